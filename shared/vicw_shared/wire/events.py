"""``GET /events``: what is stored, changed, consolidated and forgotten, as server-sent events. Never a text."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vicw_shared.wire.base import Message, Timestamp, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.items import ViewerQuery

MEDIA_TYPE = "text/event-stream"


class EventsQuery(ViewerQuery):
    """From where on events are sent, and for whom."""

    after: Annotated[str, Field(max_length=100)] | None = Field(
        None,
        description="The `id` of an event, as the header `Last-Event-ID` has it; by default from now on",
        examples=[story.EVENT],
    )
    follow: bool = Field(True, description="false: send what there is since `after`, and end")


class Event(Message):
    """Something that happened to what a tenant has stored. ``id`` stays the same if it is sent again."""

    model_config = example(
        {
            "id": story.EVENT,
            "kind": "stored",
            "at": story.STORED_AT,
            "uid": story.BETRAYAL_UID,
            "context": story.NOVEL,
            "count": 1,
        }
    )

    id: str
    kind: str = Field(
        description="`stored`, `changed` (a new version of an item); a change of a caller by its kind in `/audit`; "
        "a step of the sleep cycle by its task, such as `consolidate` or `expire`, and `undo` if that was undone"
    )
    at: Timestamp
    uid: str | None = Field(None, description="What it happened to: an item; of a step what the step made or removed")
    context: str | None = None
    count: int = Field(1, description="Number of items or entities, where one event tells of several")
