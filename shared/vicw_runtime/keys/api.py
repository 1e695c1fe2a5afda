"""Operations ``keys/create``, ``keys/list`` and ``keys/revoke``.

No key may call them: one with the right ``admin`` could make itself a key that reads.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from vicw_runtime.keys.service import KeyPorts, make_key, revoke_key
from vicw_runtime.operations import NoItem, Opening, Operation, Report, Stores
from vicw_shared.errors import MissingRecordError
from vicw_shared.model.keys import Right, tenant_flaw
from vicw_shared.wire.base import Id, Message, RawText, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.keys import NOTE_CHARS


def _tenant(name: str) -> str:
    if problem := tenant_flaw(name):
        raise PydanticCustomError("tenant", "{problem}", {"problem": problem})
    return name


class CreateKeyRequest(Message):
    """Make a key that gives access to a tenant."""

    model_config = example({"tenant": "default", "rights": ["ingest", "retrieve"], "note": "The writing app"})

    tenant: Annotated[str, AfterValidator(_tenant)]
    rights: Annotated[tuple[Right, ...], Field(min_length=1, max_length=len(Right))]
    note: Annotated[RawText, Field(max_length=NOTE_CHARS)] = Field("", description="What the key is for")


class CreatedKey(Message):
    """The key itself (``token``), which cannot be read again: only its digest is stored."""

    model_config = example({"id": story.KEY, "token": f"vicw_{story.KEY}_shown-once", "rights": ["ingest", "retrieve"]})

    id: str
    token: str = Field(repr=False)
    rights: tuple[Right, ...]


class ListKeysRequest(Message):
    """List all keys, also revoked ones."""

    model_config = example({})


class ListedKey(Message):
    """A key without its secret."""

    model_config = example(
        {
            "id": story.KEY,
            "tenant": "default",
            "rights": ["ingest", "retrieve"],
            "created_at": story.LATER_AT,
            "revoked_at": None,
            "note": "The writing app",
        }
    )

    id: str
    tenant: str
    rights: tuple[Right, ...]
    created_at: datetime
    revoked_at: datetime | None
    note: str


class ListKeysResult(Message):
    """The keys are its items."""

    model_config = example({})


class RevokeKeyRequest(Message):
    """Revoke a key. Every server refuses it within five seconds."""

    model_config = example({"id": story.KEY})

    id: Id


class RevokedKey(Message):
    """The key that was revoked."""

    model_config = example({"id": story.KEY})

    id: str


async def run_create(stores: Stores, request: CreateKeyRequest, report: Report[NoItem]) -> CreatedKey:
    """Store a new key."""
    ports = KeyPorts(stores.keys, stores.graph)
    key, token = await make_key(ports, request.tenant, request.rights, request.note, key=report.key)
    return CreatedKey(id=key.id, token=token, rights=key.rights)


async def run_list(stores: Stores, request: ListKeysRequest, report: Report[ListedKey]) -> ListKeysResult:
    """Report the keys as items, the oldest first."""
    for key in await stores.keys.keys():
        report.item(
            ListedKey(
                id=key.id,
                tenant=key.tenant,
                rights=key.rights,
                created_at=key.created_at,
                revoked_at=key.revoked_at,
                note=key.note,
            )
        )
    return ListKeysResult()


async def run_revoke(stores: Stores, request: RevokeKeyRequest, report: Report[NoItem]) -> RevokedKey:
    """Revoke a key. Raises MissingRecordError if there is no valid one with this id."""
    found, ports = await stores.keys.key(request.id), KeyPorts(stores.keys, stores.graph)
    if found is None or await revoke_key(ports, found, key=report.key) is None:
        raise MissingRecordError(f"There is no valid key {request.id}; `vicw keys list` lists all keys")
    return RevokedKey(id=request.id)


CREATE_KEY = Operation(
    name="keys/create",
    summary="Make an API key",
    request=CreateKeyRequest,
    result=CreatedKey,
    item=NoItem,
    run=run_create,
    opening=Opening.STORES,
    owner_only=True,
)
LIST_KEYS = Operation(
    name="keys/list",
    summary="List API keys",
    request=ListKeysRequest,
    result=ListKeysResult,
    item=ListedKey,
    run=run_list,
    opening=Opening.STORES,
    owner_only=True,
)
REVOKE_KEY = Operation(
    name="keys/revoke",
    summary="Revoke an API key",
    request=RevokeKeyRequest,
    result=RevokedKey,
    item=NoItem,
    run=run_revoke,
    opening=Opening.STORES,
    owner_only=True,
)
OPERATIONS = (CREATE_KEY, LIST_KEYS, REVOKE_KEY)
