"""``GET /items`` and ``GET /items/{uid}``: what is stored, read as it is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from vicw_shared.model import Label, Sensitivity
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.wire.base import Id, Message, RawText, Timestamp, example
from vicw_shared.wire.examples import items, story
from vicw_shared.wire.plain_conditions import PlainConditions
from vicw_shared.wire.retrieve import GraphEdge

MAX_PAGE = 1000


class ViewerQuery(Message):
    """The viewer of an answer, as parameters of a query. Without one it is the application, which sees its tenant."""

    viewer: Id | None = Field(None, description="Your id of the user who sees the answer", examples=["ana"])
    viewer_chat: Literal["private", "group"] = "private"
    viewer_context: Id | None = Field(None, description="The viewer's own context", examples=[story.NOVEL])


class ItemsQuery(ViewerQuery, PlainConditions):
    """Which items are listed, and in which order. All conditions must hold."""

    filter: str | None = Field(
        None, description="A filter as JSON, for what the other parameters cannot say", examples=['{"tags": "amulet"}']
    )
    context: Id | None = Field(None, examples=[story.NOVEL])
    id: Id | None = Field(
        None,
        description="Your id of an item of `context`: the answer is that item, whole. Only `viewer…` may be beside it",
        examples=[story.BETRAYAL],
    )
    domain: Id | None = Field(None, examples=["creative"])
    tag: tuple[Id, ...] = Field((), description="Has all of these tags", examples=[["amulet"]])
    order: ItemOrder = Field(
        ItemOrder.TOLD,
        description="`told`: by timestamp, without one by arrival; `happened`: by the timestamp that its caller gave; "
        "`arrival`: by when it was stored; `importance`. An item without the one or the other is before all that "
        "have it",
    )
    direction: Literal["asc", "desc"] = "desc"
    include: Literal["retired"] | None = Field(None, description="`retired`: list what is retired, too")
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Items of a page")] = 100
    cursor: Id | None = Field(None, description="The `next` of the page before", examples=[story.CURSOR])


class ItemQueryById(ViewerQuery):
    """How one item is addressed."""

    context: Id | None = Field(
        None, description="Then `uid` may be your id of an item of this context", examples=[story.NOVEL]
    )


class ListedItem(Message):
    """An item with its own fields."""

    model_config = example(items.LISTED_ITEM)

    uid: str
    id: RawText | None = Field(None, description="Your id of it")
    context: str
    domain: str
    label: Label
    subtype: str
    name: str
    version: int = Field(description="Counts from 1; 0: an item that consolidation made of others")
    text: str | None = Field(None, description="Its first passage; null if it only repeats another item")
    speaker: str | None = None
    source: str | None = None
    flow_id: str | None = None
    flow_step: int | None = Field(None, description="Not for a viewer, since it also counts hidden items")
    tags: tuple[str, ...] = ()
    bucket: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    importance: float | None = None
    protected: bool = False
    told_at: Timestamp = Field(description="`timestamp`, or without one `created_at`")
    timestamp: Timestamp | None = None
    timestamp_inferred: bool = Field(False, description="Whether VICW set `timestamp`")
    created_at: Timestamp = Field(description="When it was stored")
    expires_at: Timestamp | None = None
    valid_to: Timestamp | None = Field(None, description="When it stopped being true")
    superseded_at: Timestamp | None = Field(None, description="When a statement that decides replaced it")
    retired_at: Timestamp | None = None


class ItemPage(Message):
    """A page of items. ``next`` is the ``cursor`` of the next page, null at the end.

    Each live item is on exactly one page, whatever is written meanwhile.
    """

    model_config = example({"items": [items.LISTED_ITEM], "next": story.CURSOR})

    items: tuple[ListedItem, ...]
    next: str | None = None


class ItemPassage(Message):
    """A passage of an item: its raw text."""

    uid: str
    text: str


class ItemStatement(Message):
    """A statement: a sentence of an item's text."""

    uid: str
    text: str
    passage: str = Field(description="Uid of the passage that proves it")
    timestamp: Timestamp | None = Field(None, description="When it happened")


class NamedThing(Message):
    """A node at the other end of an item's edge."""

    uid: str
    label: Label
    subtype: str
    name: str


class ItemEdge(GraphEdge):
    """An edge of an item, with what proves it."""

    other: NamedThing
    source_item: str | None = Field(None, description="Uid of the item whose text states it, null if none does")
    proof: str | None = Field(None, description="Uid of the passage of `source_item` that proves it")
    quote: str | None = Field(None, description="The words of that passage about it, verbatim except for white space")


class ItemVersion(Message):
    """A version of an item."""

    uid: str
    version: int
    created_at: Timestamp
    retired_at: Timestamp | None = None


class ItemDetails(ListedItem):
    """An item with everything that is known of it and that the viewer may see."""

    model_config = example(items.ITEM_DETAILS)

    text: str | None = Field(None, description="Its whole text; null if it only repeats another item")
    passages: tuple[ItemPassage, ...] = ()
    statements: tuple[ItemStatement, ...] = ()
    about: tuple[NamedThing, ...] = ()
    trigger_phrases: tuple[str, ...] = ()
    edges: tuple[ItemEdge, ...] = Field((), description="Its edges, except those to its passages and its context")
    edges_complete: bool = Field(True, description="False if it has more edges than are shown")
    versions: tuple[ItemVersion, ...] = Field((), description="Its versions, the latest first")
    consolidated_into: str | None = Field(None, description="Uid of the item that stands for it since consolidation")
    consolidates: tuple[str, ...] = Field((), description="Uids of the items that it stands for")


class ContextsQuery(ViewerQuery):
    """Which contexts are listed."""

    prefix: Id | None = Field(None, description="Start of their names, in its exact spelling", examples=["Fantasy"])
    after: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="The `next` of the page before", examples=[story.CURSOR]
    )
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Contexts of a page")] = 100


class ContextSummary(Message):
    """What a context holds, as far as the viewer may see it: live items, and their text."""

    context: str
    items: int
    labels: dict[str, int] = Field(description="Items by label")
    domains: dict[str, int] = Field(description="Items by domain")
    first: Timestamp = Field(description="When the first of them was told")
    last: Timestamp = Field(description="When the last of them was told")
    passages: int
    chars: int = Field(description="Characters of the passages")


class ContextPage(Message):
    """Contexts with a visible item, by name. ``next`` is the ``after`` of the next page, null at the end."""

    model_config = example(
        {
            "contexts": [
                {
                    "context": story.NOVEL,
                    "items": 4,
                    "labels": {"Event": 4},
                    "domains": {"creative": 4},
                    "first": story.OLD_HOME_AT,
                    "last": story.NEW_HOME_AT,
                    "passages": 4,
                    "chars": 231,
                }
            ],
            "next": None,
        }
    )

    contexts: tuple[ContextSummary, ...]
    next: str | None = None
