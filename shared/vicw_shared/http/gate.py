"""Who is asking: bearer keys become a tenant and its rights, before a body is read.

The tenant is never taken from a request's body. Where only this machine can ask, no key is needed.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.security import HTTPBearer
from prometheus_client import Counter

from vicw_shared.errors import ForbiddenError, RetryableError, UnauthorizedError
from vicw_shared.http.body import StrictRoute
from vicw_shared.model.keys import ApiKey, Right, split_token
from vicw_shared.ports import KeyRing

REFUSED = Counter("vicw_keys_refused_total", "Requests refused for want of a key that holds and allows", ["reason"])
_REMEMBERED_SECONDS = 5.0
_TRUSTED_SECONDS = 600.0
_REMEMBERED_KEYS = 4096
_SCHEME = "bearer"
_HOW = "Send `Authorization: Bearer KEY`; `vicw keys create` makes a key"

documented = HTTPBearer(auto_error=False, description="A key of `vicw keys create`; on loopback none is needed")
"""The security scheme of ``/docs``; ``Gate`` is what decides."""


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server that listens on ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Admits requests. A revoked key may be admitted for five seconds more, as long as a look-up is remembered.

    While the store of the keys is down, a key that it confirmed within the last ten minutes is admitted.
    """

    def __init__(self, keys: Callable[[], KeyRing], *, required: bool, tenant: str) -> None:
        """Ask ``keys`` about keys. If none is ``required``, a request without one belongs to ``tenant``."""
        self.required = required
        self._keys = keys
        self._tenant = tenant
        # Apart, so that made-up ids push no key out.
        self._known: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()
        self._unknown: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()

    async def admit(self, request: Request, right: Right | None) -> str:
        """Return the request's tenant.

        Raises UnauthorizedError without a key that holds, ForbiddenError for one without the right (None: any).
        """
        header = request.headers.get("authorization")
        if header is None and not self.required:
            return self._tenant
        key = await self._identify(header)
        if right is not None and right not in key.rights:
            REFUSED.labels("right").inc()
            raise ForbiddenError(f"This key does not have the right `{right}`. Ask with one that has")
        return key.tenant

    def route(self, right: Right) -> type[StrictRoute]:
        """Return a class of routes that need ``right``; ``tenant_of`` then tells the request's tenant."""
        gate = self

        class GatedRoute(StrictRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def gated(request: Request) -> Response:
                    request.state.tenant = await gate.admit(request, right)
                    return await handle(request)

                return gated

        return GatedRoute

    async def _identify(self, header: str | None) -> ApiKey:
        if header is None:
            raise _refused("missing", "A key is needed")
        scheme, _, token = header.partition(" ")
        parts = split_token(token.strip()) if scheme.lower() == _SCHEME else None
        if parts is None:
            raise _refused("malformed", "The Authorization header holds no key of ours")
        key = await self._look_up(parts[0])
        if key is None or not key.matches(parts[1]):
            raise _refused("unknown", "This key is not known, or was revoked")
        return key

    async def _look_up(self, key_id: str) -> ApiKey | None:
        instant = time.monotonic()
        before = self._known.get(key_id) or self._unknown.get(key_id)
        if before is not None and instant - before[0] < _REMEMBERED_SECONDS:
            return before[1]
        try:
            key = await self._keys().key(key_id)
        except RetryableError:
            # The store of the keys is down: whoever was admitted a moment ago goes on, nobody else.
            if before is not None and before[1] is not None and instant - before[0] < _TRUSTED_SECONDS:
                return before[1]
            raise
        self._remember(key_id, key, instant)
        return key

    def _remember(self, key_id: str, key: ApiKey | None, instant: float) -> None:
        """Keep what a look-up found, as the newest of its kind and in place of what an earlier one found."""
        self._known.pop(key_id, None)
        self._unknown.pop(key_id, None)
        kind = self._known if key is not None else self._unknown
        kind[key_id] = (instant, key)
        if len(kind) > _REMEMBERED_KEYS:
            kind.popitem(last=False)


def _refused(reason: str, told: str) -> UnauthorizedError:
    REFUSED.labels(reason).inc()
    return UnauthorizedError(f"{told}. {_HOW}")


def tenant_of(request: Request) -> str:
    """Return the tenant of a request that a gated route has admitted."""
    tenant: str = request.state.tenant
    return tenant
