"""Gate of tenants' data: a bearer key identifies a tenant and the caller's rights."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request

from vicw_shared.http.gate import HEADER, Caller, Gate
from vicw_shared.http.known_keys import KeyCache, KeyCacheLimits
from vicw_shared.model.keys import split_token
from vicw_shared.ports import KeyRing


class KeyGate(Gate):
    """Admits requests with a key of the ring, as cached by ``KeyCache``, also while the ring is down."""

    def __init__(
        self, keys: Callable[[], KeyRing], *, required: bool, tenant: str, limits: KeyCacheLimits | None = None
    ) -> None:
        """Look up keys in ``keys``. If none is ``required``, a request without one belongs to ``tenant``."""
        super().__init__(required=required, how="Send `Authorization: Bearer KEY`; `vicw keys create` makes a key")
        self._keys = KeyCache(keys, limits)
        self._tenant = tenant

    async def identify(self, request: Request) -> Caller:
        """Return the caller by its key. If no key is required, a request without one has all rights."""
        if HEADER not in request.headers and not self.required:
            return Caller(self._tenant)
        parts = split_token(self._token(request))
        if parts is None:
            raise self._refused("malformed", "The Authorization header has no VICW key")
        key = await self._keys.find(parts[0])
        if key is None or not key.matches(parts[1]):
            raise self._refused("unknown", "This key is not known, or was revoked")
        return Caller(key.tenant, key.rights)
