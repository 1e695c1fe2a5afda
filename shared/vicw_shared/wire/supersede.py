"""``POST /supersede``."""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Id, Message, StrictBool, Timestamp

_EXAMPLE: JsonDict = {"context": "Family", "new": "address-2026", "old": "address-2019"}


class SupersedeRequest(Message):
    """Two items of one context, the first of which replaces the other: a person states what holds now."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    context: Id | None = Field(
        None, description="The context that the items were ingested in; needed for your ids. null: both are uids"
    )
    new: Id = Field(description="The item that holds: your id, or its uid; that of any version names the item")
    old: Id = Field(description="The item that it replaces, named in the same way")
    at: Timestamp | None = Field(
        None,
        description="Since when the new one holds; null: the time of the new item, but no later than now. `as_of` "
        "before it still finds the old one",
    )
    undo: StrictBool = Field(False, description="Take the statement back: the old item holds again")
    wait: StrictBool = Field(True, description="Answer when the vector store knows, too; false answers 202 at once")


class SupersedeResponse(Message):
    """200: every answer knows. 202: durable; the vector store follows a little later."""

    context: str
    new: str = Field(description="Uid of the latest version of the item that holds")
    old: str = Field(description="Uid of the latest version of the item that was replaced")
    superseded_at: Timestamp | None = Field(
        description="Since when the old one is past; null: it holds, as nothing replaces it"
    )
    changed: StrictBool = Field(description="false: it was so already")
