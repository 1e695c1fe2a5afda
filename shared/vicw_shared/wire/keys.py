"""``/keys``: the API keys of a tenant."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from vicw_shared.model.keys import Right
from vicw_shared.wire.base import Message, RawText, Timestamp

NOTE_CHARS = 1000
_EXAMPLE: JsonDict = {"rights": ["retrieve"], "note": "The page on the wall"}


class NewKey(Message):
    """A key to make: of the caller's tenant, with rights that the caller's own key has."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    rights: Annotated[tuple[Right, ...], Field(min_length=1, max_length=len(Right))]
    note: Annotated[RawText, Field(max_length=NOTE_CHARS)] = Field("", description="What the key is for")


class Key(Message):
    """A key without its secret."""

    id: str
    rights: tuple[Right, ...]
    created_at: Timestamp
    revoked_at: Timestamp | None = Field(None, description="null: it is valid")
    note: str


class MadeKey(Key):
    """A new key. ``token`` is what a request sends; it is shown once, since only its digest is stored."""

    token: str = Field(repr=False)


class Keys(Message):
    """All keys of the tenant, also revoked ones, the oldest first."""

    keys: tuple[Key, ...]
