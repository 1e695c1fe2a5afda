"""``/keys``: the API keys of a tenant."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

from vicw_shared.model.keys import Right
from vicw_shared.wire.base import Message, RawText, Timestamp, example
from vicw_shared.wire.examples import story

NOTE_CHARS = 1000
_KEY: JsonDict = {
    "id": story.KEY,
    "rights": ["retrieve"],
    "created_at": story.LATER_AT,
    "revoked_at": None,
    "note": "The page on the wall",
}


class NewKey(Message):
    """A key to make: of the caller's tenant, with rights that the caller's own key has."""

    model_config = example({"rights": ["retrieve"], "note": "The page on the wall"})

    rights: Annotated[tuple[Right, ...], Field(min_length=1, max_length=len(Right))]
    note: Annotated[RawText, Field(max_length=NOTE_CHARS)] = Field("", description="What the key is for")


class Key(Message):
    """A key without its secret."""

    model_config = example(_KEY)

    id: str
    rights: tuple[Right, ...]
    created_at: Timestamp
    revoked_at: Timestamp | None = Field(None, description="null: it is valid")
    note: str


class MadeKey(Key):
    """A new key. ``token`` is what a request sends; it is shown once, since only its digest is stored."""

    model_config = example({**_KEY, "token": f"vicw_{story.KEY}_shown-once"})

    token: str = Field(repr=False)


class Keys(Message):
    """All keys of the tenant, also revoked ones, the oldest first."""

    model_config = example({"keys": [_KEY]})

    keys: tuple[Key, ...]
