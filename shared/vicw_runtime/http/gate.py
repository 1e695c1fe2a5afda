"""Authentication and authorisation: the ``Authorization`` header is checked before the body is read.

A bearer key identifies a tenant, and so does a token of an issuer that the operator has named; between services
without tenants a shared secret admits the caller. The tenant never comes from a request's body. A server that only this
machine can reach needs no key, if it is called by a name of this machine.
"""

from __future__ import annotations

import hmac
import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import Request, Response
from fastapi.security import HTTPBearer
from prometheus_client import Counter

from vicw_runtime.http.body import StrictRoute
from vicw_runtime.http.key_cache import KeyCache, KeyCacheLimits
from vicw_runtime.oidc.metadata import challenge
from vicw_runtime.oidc.model import BadTokenError
from vicw_shared.errors import ForbiddenError, UnauthorizedError
from vicw_shared.model.keys import Right, split_token
from vicw_shared.ports import KeyRing
from vicw_shared.settings import OidcSettings
from vicw_shared.wire.host_names import Host, is_loopback

REFUSED = Counter("vicw_keys_refused_total", "Requests refused: key missing, invalid, or without the right", ["reason"])
HEADER = "authorization"
_SCHEME = "bearer"

bearer_scheme = HTTPBearer(
    auto_error=False,
    description="A key of `vicw keys create`; of an embedding server, its secret. On loopback none is needed",
)
"""The security scheme that ``/docs`` shows; a ``Gate`` enforces it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request: its tenant ("" without tenants) and its rights.

    ``owner``: it has the files of the store, so it may do whatever they allow. ``key``: the id of its key, if it sent
    one. ``by_token``: it sent a token of an issuer, and ``key`` names its subject.
    """

    tenant: str
    rights: tuple[Right, ...] = tuple(Right)
    owner: bool = False
    key: str | None = None
    by_token: bool = False

    def require_owner(self) -> None:
        """Raise ForbiddenError unless it is the owner."""
        if not self.owner:
            REFUSED.labels("owner").inc()
            raise ForbiddenError(
                "Only who owns the data directory may do this: run the command where the server runs, as the same "
                "user, with its --data-dir instead of --url"
            )

    def is_operator(self, tenant: str | None) -> bool:
        """Return whether it is the owner or of the server's own ``tenant``, which is the operator's (None: any is)."""
        return self.owner or tenant is None or self.tenant == tenant

    def require_operator(self, tenant: str) -> None:
        """Raise ForbiddenError unless it is the operator by ``is_operator``."""
        if not self.is_operator(tenant):
            REFUSED.labels("owner").inc()
            raise ForbiddenError(
                "This is of all tenants, so it takes a key of the operator's tenant (VICW_TENANT). For its own tenant "
                "a key runs `vicw sleep consolidate`, `dream`, `resolve` and `log` with --url, and POST /sleep/undo"
            )

    def require(self, right: Right) -> None:
        """Raise ForbiddenError unless it has ``right``."""
        if right not in self.rights:
            REFUSED.labels("right").inc()
            if self.by_token:
                raise ForbiddenError(f"This token has no scope that gives the right `{right}` (VICW_OIDC_SCOPES)")
            raise ForbiddenError(
                f"This key does not have the right `{right}`. Ask with one that has: `vicw keys create "
                f"--tenant {shlex.quote(self.tenant)} --right {right}` makes one"
            )


class Tokens(Protocol):
    """Callers by tokens of an issuer."""

    settings: OidcSettings

    async def caller(self, token: str) -> Caller:
        """Return who sends a token. Raises BadTokenError, UnavailableError, or ForbiddenError."""
        ...


class Gate(ABC):
    """Admits or refuses requests. Unless it is ``required``, a request without a key is admitted, too."""

    def __init__(self, *, required: bool, how: str, operator: str | None = None) -> None:
        """Append ``how`` to each refusal: how to send a key and where to get one.

        ``operator`` is the operator's tenant; None: there are no tenants.
        """
        self.required = required
        self.operator = operator
        self._how = how

    @abstractmethod
    async def identify(self, request: Request) -> Caller:
        """Return the caller. Raises UnauthorizedError without a valid key, or UnavailableError."""

    async def admit(self, request: Request, right: Right | None, *, owner: bool = False) -> Caller:
        """Return the caller of a request with ``right`` (None: any key suffices), the ``owner`` if needed.

        Raises the errors of ``identify``, and ForbiddenError for a key without the right.
        """
        try:
            caller = await self.identify(request)
            if owner:
                caller.require_owner()
            if right is not None:
                caller.require(right)
        except (UnauthorizedError, ForbiddenError) as error:
            self._challenge(request, error, None if owner else right)
            raise
        return caller

    def _challenge(  # noqa: B027 - a gate may have nothing to add
        self, request: Request, error: UnauthorizedError | ForbiddenError, right: Right | None
    ) -> None:
        """Say in a refusal how to be admitted, if there is more to say than that a key is needed."""

    def is_owners(self, token: str, request: Request) -> bool:
        """Return whether a request from this machine proves with ``token`` that it is the owner's."""
        return False

    def route(self, right: Right | None, *, owner: bool = False, streams: bool = False) -> type[StrictRoute]:
        """Return a route class that requires ``right``; ``caller_of`` then returns the request's caller.

        With ``owner``, no key suffices. With ``streams``, the handler reads the body itself.
        """
        gate = self

        class GatedRoute(StrictRoute):
            reads_body = not streams

            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def gated(request: Request) -> Response:
                    request.state.caller = await gate.admit(request, right, owner=owner)
                    return await handle(request)

                return gated

        return GatedRoute

    def _token(self, request: Request) -> str:
        """Return the bearer token of a request. Raises UnauthorizedError if there is none."""
        header = request.headers.get(HEADER)
        if header is None:
            raise self._refused("missing", "A key is needed")
        scheme, _, token = header.partition(" ")
        if scheme.lower() != _SCHEME:
            raise self._refused("malformed", "The Authorization header holds no bearer key")
        return token.strip()

    def _refused(self, reason: str, detail: str) -> UnauthorizedError:
        REFUSED.labels(reason).inc()
        return UnauthorizedError(f"{detail}. {self._how}")


def caller_of(request: Request) -> Caller:
    """Return the caller of a request that a gated route has admitted."""
    caller: Caller = request.state.caller
    return caller


def tenant_of(request: Request) -> str:
    """Return the tenant of a request that a gated route has admitted."""
    return caller_of(request).tenant


def _is_from_this_machine(request: Request) -> bool:
    """Return whether the other end of the connection is on this machine: on a unix socket, at loopback, or at the
    server's own address, which no other machine answers to.
    """
    client, server = request.client, request.scope.get("server")
    return client is None or is_loopback(client.host) or (server is not None and client.host == server[0])


def _is_called_by_loopback_name(request: Request) -> bool:
    """Return whether a request calls this server by a name of this machine, not by one of a proxy or tunnel."""
    try:
        return is_loopback(Host.parse(request.headers.get("host", "localhost")).name)
    except ValueError:
        return False


def is_of_this_machine(request: Request) -> bool:
    """Return whether a request comes from this machine and calls the server by a name of it.

    A reverse proxy on this machine that passes on the name its clients use makes no such request.
    """
    return _is_from_this_machine(request) and _is_called_by_loopback_name(request)


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


class KeyGate(Gate):
    """Admits requests with a key of the ring, as cached by ``KeyCache``, also while the ring is down."""

    def __init__(
        self,
        keys: Callable[[], KeyRing],
        *,
        required: bool,
        tenant: str,
        limits: KeyCacheLimits | None = None,
        owner_token: Callable[[], str | None] = lambda: None,
        tokens: Tokens | None = None,
    ) -> None:
        """Look up keys in ``keys``. If none is ``required``, a request without one belongs to ``tenant``.

        Who sends ``owner_token`` from this machine is the owner, with the right ``admin`` alone: it gives no access to
        what is stored. A copy of it is worth nothing elsewhere. What is no key may be one of ``tokens``.
        """
        how = "Send `Authorization: Bearer KEY`; `vicw keys create` makes a key"
        super().__init__(required=required, how=how, operator=tenant)
        self._keys = KeyCache(keys, limits)
        self._tenant = tenant
        self._owner_token = owner_token
        self._tokens = tokens

    async def identify(self, request: Request) -> Caller:
        """Return the caller by its key. If no key is required, a request without one has all rights.

        It must call this server by a name of this machine: by another, of ``VICW_ALLOWED_HOSTS``, it comes through a
        proxy or a tunnel, from anywhere.
        """
        if HEADER not in request.headers and not self.required:
            if not _is_called_by_loopback_name(request):
                raise self._refused("host", "Without a key this server is called 127.0.0.1, [::1] or localhost")
            return Caller(self._tenant)
        token = self._token(request)
        if self.is_owners(token, request):
            return Caller(self._tenant, (Right.ADMIN,), owner=True)
        parts = split_token(token)
        if parts is None and self._tokens is not None:
            try:
                return await self._tokens.caller(token)
            except ForbiddenError:
                REFUSED.labels("right").inc()
                raise
            except BadTokenError as error:
                raise self._refused("token", str(error)) from error
        if parts is None:
            raise self._refused("malformed", "The Authorization header has no VICW key")
        key = await self._keys.find(parts[0])
        if key is None or not key.matches(parts[1]):
            raise self._refused("unknown", "This key is not known, or was revoked")
        return Caller(key.tenant, key.rights, key=key.id)

    def is_owners(self, token: str, request: Request) -> bool:
        """Return whether a request from this machine proves with ``token`` that it is the owner's."""
        known = self._owner_token()
        is_known = known is not None and hmac.compare_digest(token.encode("latin-1"), known.encode())
        return is_known and _is_from_this_machine(request)

    def _challenge(self, request: Request, error: UnauthorizedError | ForbiddenError, right: Right | None) -> None:
        if self._tokens is None:
            return
        _, _, token = request.headers.get(HEADER, "").partition(" ")
        if isinstance(error, ForbiddenError) and (not token or split_token(token.strip()) is not None):
            return  # more scopes are no cure for a key without a right
        if isinstance(error, ForbiddenError) and right is None:
            return  # nor for what the owner alone may do
        error.challenge = challenge(request, self._tokens.settings, error, right)
