"""``/keys``: the keys of the caller's tenant, listed, made and revoked over HTTP.

A key hands on only what it has: rights of its own, in its own tenant. The operations of the same names, which the
owner of the data directory calls, have neither limit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request, Security

from vicw_runtime.http import Caller, Gate, bearer_scheme, caller_of, refusals, tenant_of
from vicw_runtime.keys.service import KeyPorts, make_key, revoke_key
from vicw_shared.errors import ForbiddenError, MissingRecordError, StateConflictError
from vicw_shared.model.keys import ApiKey, Right
from vicw_shared.wire.examples import story
from vicw_shared.wire.keys import Key, Keys, MadeKey, NewKey


def create_keys_router(ports: Callable[[], KeyPorts], gate: Gate) -> APIRouter:
    """Return the routes behind ``gate``. ``ports`` is called once per request."""
    router = APIRouter(
        prefix="/keys",
        route_class=gate.route(Right.ADMIN),
        tags=["keys"],
        dependencies=[Security(bearer_scheme)],
    )

    @router.get("", responses=refusals(401, 403, 503), summary="List API keys", operation_id="list_keys")
    async def get_keys(http: Request) -> Keys:
        tenant = tenant_of(http)
        return Keys(keys=tuple(_shown(key) for key in await ports().ring.keys() if key.tenant == tenant))

    @router.post(
        "",
        status_code=201,
        responses=refusals(401, 403, 413, 422, 503, 507),
        summary="Make an API key",
        operation_id="create_key",
    )
    async def post_key(request: NewKey, http: Request) -> MadeKey:
        caller = caller_of(http)
        _require_giver(caller, request.rights)
        key, token = await make_key(ports(), caller.tenant, request.rights, request.note, key=caller.key)
        return MadeKey(token=token, **_shown(key).model_dump())

    @router.delete(
        "/{key}",
        responses=refusals(401, 403, 404, 409, 422, 503, 507),
        summary="Revoke an API key",
        operation_id="revoke_key",
    )
    async def delete_key(key: Annotated[str, Path(examples=[story.KEY])], http: Request) -> Key:
        caller, of = caller_of(http), ports()
        found = await of.ring.key(key)
        if found is None or found.tenant != caller.tenant:
            raise _missing()
        if found.id == caller.key:
            raise StateConflictError("A key does not revoke itself: send this request with another key")
        if (at := await revoke_key(of, found, key=caller.key)) is None:
            raise _missing()
        return _shown(found).model_copy(update={"revoked_at": at})

    return router


def _missing() -> MissingRecordError:
    return MissingRecordError("There is no valid key with this id; GET /keys lists all keys")


def _require_giver(caller: Caller, rights: tuple[Right, ...]) -> None:
    """Raise ForbiddenError unless the caller has a key with these rights.

    Without a key a server of this machine alone is called; what is made here would open it to others, and for good.
    A token ends soon, and its subject may lose its scopes at the issuer: a key would outlive both.
    """
    if caller.by_token:
        raise ForbiddenError(
            "A token makes no keys, since they would outlive it: send this with a key, or run `vicw keys create`"
        )
    if caller.key is None:
        raise ForbiddenError("A key is made with a key: `vicw keys create --right admin` makes the first one")
    if missing := [right.value for right in rights if right not in caller.rights]:
        raise ForbiddenError(f"This key cannot hand on what it does not have: {', '.join(missing)}")


def _shown(key: ApiKey) -> Key:
    return Key(id=key.id, rights=key.rights, created_at=key.created_at, revoked_at=key.revoked_at, note=key.note)
