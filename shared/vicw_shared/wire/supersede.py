"""``POST /supersede``."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, StrictBool, Timestamp, example
from vicw_shared.wire.examples import story


class SupersedeRequest(Message):
    """Two items of one context, the first of which replaces the other: a person states what holds now."""

    model_config = example({"context": story.NOVEL, "new": story.NEW_HOME, "old": story.OLD_HOME})

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

    model_config = example(
        {
            "context": story.NOVEL,
            "new": story.NEW_HOME_UID,
            "old": story.OLD_HOME_UID,
            "superseded_at": story.NEW_HOME_AT,
            "changed": True,
        }
    )

    context: str
    new: str = Field(description="Uid of the latest version of the item that holds")
    old: str = Field(description="Uid of the latest version of the item that was replaced")
    superseded_at: Timestamp | None = Field(
        description="Since when the old one is past; null: it holds, as nothing replaces it"
    )
    changed: StrictBool = Field(description="false: it was so already")
