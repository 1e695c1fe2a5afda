"""``POST /items/retract``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from vicw_shared.wire.base import Id, Message, RawText, StrictBool, StrictInt, Timestamp, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.filters import Filter


class RetractRequest(Message):
    """Items to retract, with all data that depends on them alone: ``ids`` of a context, ``uids``, or both.

    Or a ``filter``: a request retracts at most as many as it may name, and the same request again goes on.
    """

    model_config = example({"context": story.NOVEL, "ids": [story.BETRAYAL, story.FLIGHT]})

    context: Id | None = Field(
        None, description="The context that the items were ingested in; needed for `ids`. null: `uids` of any context"
    )
    ids: Annotated[tuple[Id, ...], Field(min_length=1)] = Field(
        (), description="Your ids of the items, or uids of items without an id"
    )
    uids: Annotated[tuple[Id, ...], Field(min_length=1)] = Field(
        (), description="Uids of the items, as POST /ingest returned them; that of any version names the item"
    )
    filter: Filter | None = Field(None, description="Instead: all live items that pass it; with `context` only there")
    all: StrictBool = Field(False, description="Needed for a `filter` without a condition, if there is no `context`")
    dry_run: StrictBool = Field(False, description="Change nothing; the answer says what would become of each item")
    ended_at: Timestamp | None = Field(
        None,
        description="End of their validity, used by `as_of`; null: they were wrong and never true. In both cases "
        "`known_at` still sees them in the past",
    )
    wait: StrictBool = Field(True, description="Answer when the vector store knows, too; false answers 202 at once")


class RetractedStatus(StrEnum):
    """Outcome of retracting an item."""

    RETRACTED = "retracted"
    ALREADY = "already"
    UNKNOWN = "unknown"


class RetractedItem(Message):
    """The outcome of one id or uid, in the order of the request: ``ids`` first."""

    id: RawText | None = Field(description="As it was given; of one of `uids` the id that its item has")
    uid: str | None = Field(description="The version that was retracted, now or before; null: there is no such item")
    status: RetractedStatus


class RetractResponse(Message):
    """200: no answer contains the items. 202: durable, and out of the graph's answers; the vector store follows."""

    model_config = example(
        {
            "context": story.NOVEL,
            "items": [
                {"id": story.BETRAYAL, "uid": story.BETRAYAL_UID, "status": "retracted"},
                {"id": story.FLIGHT, "uid": story.FLIGHT_UID, "status": "retracted"},
            ],
            "counts": {"retracted": 2, "already": 0, "unknown": 0},
        }
    )

    context: str | None
    items: tuple[RetractedItem, ...]
    counts: dict[RetractedStatus, StrictInt] = Field(
        default_factory=dict, description="Number of different items by status; unknown ones by what was given"
    )
    selected: StrictInt | None = Field(
        None,
        description="With a `filter`, the number of items that passed it; if it is more than `items`, send it again",
    )
    dry_run: StrictBool = Field(False, description="Nothing was changed: this is what would become of the items")
