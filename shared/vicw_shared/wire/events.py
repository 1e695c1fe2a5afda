"""``GET /events``: what is stored, changed, consolidated and forgotten, as server-sent events. Never a text."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from vicw_shared.wire.base import Message, Timestamp
from vicw_shared.wire.items import ViewerQuery

MEDIA_TYPE = "text/event-stream"


class EventsQuery(ViewerQuery):
    """From where on events are sent, and for whom."""

    after: Annotated[str, Field(max_length=100)] | None = Field(
        None, description="The `id` of an event, as the header `Last-Event-ID` has it; by default from now on"
    )
    follow: bool = Field(True, description="false: send what there is since `after`, and end")


class Event(Message):
    """Something that happened to what a tenant has stored. ``id`` stays the same if it is sent again."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "1768816801000000-5d0c1a3e-7c52-5f0c-9d6c-2f6b4f0f6f11",
                    "kind": "stored",
                    "at": "2026-01-19T10:00:01Z",
                    "uid": "5d0c1a3e-7c52-5f0c-9d6c-2f6b4f0f6f11",
                    "context": "Fantasy Novel",
                    "count": 1,
                }
            ]
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
