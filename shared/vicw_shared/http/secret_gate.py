"""Gate of a service without tenants: one secret, shared with the services that call it."""

from __future__ import annotations

import hmac

from fastapi import Request

from vicw_shared.http.gate import Caller, Gate


class SecretGate(Gate):
    """Grants every right to requests with the secret, or to all requests if no secret is set."""

    def __init__(self, secret: str | None, *, variable: str) -> None:
        """Require ``secret``, the value of the setting ``variable`` (None: admit all requests)."""
        how = f"Send `Authorization: Bearer SECRET` with this server's {variable}"
        super().__init__(required=secret is not None, how=how)
        self._secret = secret.encode() if secret is not None else None

    async def identify(self, request: Request) -> Caller:
        """Return a caller with all rights. Raises UnauthorizedError without the secret."""
        # The framework has read the header's bytes as Latin-1.
        if self._secret is not None and not hmac.compare_digest(self._token(request).encode("latin-1"), self._secret):
            raise self._refused("unknown", "This is not the secret")
        return Caller("")
