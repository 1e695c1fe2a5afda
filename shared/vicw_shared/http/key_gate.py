"""The gate of what belongs to tenants: bearer keys become a tenant and its rights."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request

from vicw_shared.errors import ForbiddenError
from vicw_shared.http.gate import HEADER, REFUSED, Gate
from vicw_shared.http.known_keys import KnownKeys
from vicw_shared.model.keys import ApiKey, Right, split_token
from vicw_shared.ports import KeyRing


class KeyGate(Gate):
    """Admits whoever has a key of the ring; ``KnownKeys`` says for how long, and what while the ring is away."""

    def __init__(self, keys: Callable[[], KeyRing], *, required: bool, tenant: str) -> None:
        """Ask ``keys`` about keys. If none is ``required``, a request without one belongs to ``tenant``."""
        super().__init__(required=required, how="Send `Authorization: Bearer KEY`; `vicw keys create` makes a key")
        self._keys = KnownKeys(keys)
        self._tenant = tenant

    async def admit(self, request: Request, right: Right | None) -> str:
        """Return the tenant of the request's key; raises as every gate, and UnavailableError."""
        if HEADER not in request.headers and not self.required:
            return self._tenant
        key = await self._identify(self._token(request))
        if right is not None and right not in key.rights:
            REFUSED.labels("right").inc()
            raise ForbiddenError(f"This key does not have the right `{right}`. Ask with one that has")
        return key.tenant

    async def _identify(self, token: str) -> ApiKey:
        parts = split_token(token)
        if parts is None:
            raise self._refused("malformed", "The Authorization header holds no key of ours")
        key = await self._keys.find(parts[0])
        if key is None or not key.matches(parts[1]):
            raise self._refused("unknown", "This key is not known, or was revoked")
        return key
