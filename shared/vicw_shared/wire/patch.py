"""``PATCH /items``: JSON Merge Patch (RFC 7396) of a stored item."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.model import Sensitivity
from vicw_shared.wire.base import Id, Message, Prose, StrictBool, StrictInt, Timestamp, ZonedTimestamp, example
from vicw_shared.wire.examples import items, story
from vicw_shared.wire.extraction import Extraction
from vicw_shared.wire.ingest import FlowStep, Importance, IngestedItem, Metadata
from vicw_shared.wire.knowledge import PageRef


class ItemPatch(Message):
    """Fields of an item to change; those that are left out stay, and null sets one back to its default.

    The fields are those of an item of POST /ingest. ``id``, ``uid`` and ``context`` say which item it is, and cannot be
    changed.
    """

    model_config = example({"tags": ["amulet", "theft"], "metadata": {"chapter": 3, "draft": None}, "expires_at": None})

    text: Prose = Field("", description="Cannot be removed")
    subtype: Id | None = None
    name: Prose | None = None
    speaker: Prose | None = None
    user: Id | None = None
    timestamp: ZonedTimestamp | None = None
    flow_id: Id | None = None
    flow_step: FlowStep | None = None
    tags: tuple[Id, ...] | None = None
    bucket: Id | None = None
    source: Id | None = None
    metadata: Metadata | None = Field(None, description="Merged key by key; null removes a key, or all of it")
    sensitivity: Sensitivity | None = None
    portable: StrictBool | None = None
    about: tuple[Id, ...] | None = None
    importance: Importance | None = None
    protected: StrictBool | None = None
    trigger_phrases: tuple[Prose, ...] | None = None
    expires_at: Timestamp | None = None
    extraction: Extraction | None = None
    page: PageRef | None = None


class ItemByIdQuery(Message):
    """The item that a caller's ``id`` names."""

    context: Id = Field(description="The context that the item was ingested in", examples=[story.NOVEL])
    id: Id = Field(description="Your id of the item", examples=[story.BETRAYAL])


class PatchedItem(Message):
    """The item after a patch. 200: /retrieve finds it so. 202: it is durable, and the ``job`` is done when it is found.

    ``item.status`` is ``updated``, or ``unchanged`` if the patch changed nothing; ``item.uid`` is that of the
    ``version``.
    """

    model_config = example({"context": story.NOVEL, "version": 2, "job": None, "item": items.PATCHED_ITEM})

    context: str
    version: StrictInt
    job: str | None = None
    item: IngestedItem
