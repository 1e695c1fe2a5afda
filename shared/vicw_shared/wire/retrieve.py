"""``POST /retrieve``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from vicw_shared.model import Label, Sensitivity
from vicw_shared.wire.base import Id, Message, Prose, StrictBool, StrictInt, Timestamp


class Viewer(Message):
    """Who will see the answer. Without a viewer it is the application itself, which sees its whole tenant."""

    user: Id | None = None
    chat: Literal["private", "group"] = "private"
    context: Id | None = Field(None, description="The viewer's own context: non-portable items are seen only there")
    participants: tuple[Id, ...] = ()


class TagFilter(Message):
    """Which tags a result must have."""

    any: tuple[Id, ...] = ()
    all: tuple[Id, ...] = ()
    none: tuple[Id, ...] = ()


class Expand(Message):
    """How far the graph is followed from each result."""

    hops: Annotated[StrictInt, Field(ge=0, le=1)] = 1


class Budget(Message):
    """How long the answer's ``text`` may be."""

    chars: Annotated[StrictInt, Field(ge=1)] = 8000


class Channel(StrEnum):
    """A way in which evidence is found."""

    DENSE = "dense"
    BM25 = "bm25"
    FULLTEXT = "fulltext"


_EXAMPLE: JsonDict = {
    "query": "who stole the amulet?",
    "context": "Fantasy Novel",
    "limit": 5,
    "viewer": {"user": "ana", "chat": "private"},
    "tags": {"none": ["draft"]},
    "budget": {"chars": 4000},
}


class RetrieveRequest(Message):
    """A question."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    query: Prose
    context: Id | None = Field(None, description="Search one context; null: every context the caller may see")
    domain: Prose | None = Field(None, description="Strict filter; null: inferred from the query and its hits")
    limit: Annotated[StrictInt, Field(ge=1)] = 10
    viewer: Viewer | None = None
    tags: TagFilter = TagFilter()
    as_of: Timestamp | None = Field(None, description="What was true then")
    known_at: Timestamp | None = Field(None, description="What was known then")
    query_time: Timestamp | None = Field(None, description="The asker's now; default: the server's")
    channels: Annotated[tuple[Channel, ...], Field(min_length=1)] | None = Field(
        None, description="Only these channels; null: all"
    )
    expand: Expand = Expand()
    budget: Budget = Budget()
    explain: StrictBool = False


class Intent(Message):
    """What the question seems to be about. ``confidence`` is in [0, 1]; a low one widens the search."""

    domain: str
    confidence: float
    evidence: Literal["given", "query", "hits", "none"] = Field(description="What the domain rests on")
    filtered: bool = Field(description="Whether the results were narrowed to the domain")


class ChannelHit(Message):
    """Where a channel ranked a result: rank from 1, score in the channel's own scale, higher is better.

    ``fulltext`` is the graph's own index: asked by setting, where there are no vectors, and while the vector
    engine is down or being rebuilt.
    ``graph``: the question has a trigger phrase of the item; what is protected ranks first, then what weighs most.
    """

    channel: Literal["dense", "bm25", "fulltext", "graph"]
    rank: int
    score: float


class Via(Message):
    """An edge that leads to or from a result."""

    type: str
    direction: Literal["out", "in"]
    uid: str


class Passage(Message):
    """A further passage of a result that was found; its score is on the result's scale."""

    uid: str
    text: str
    score: float


class Result(Message):
    """One item of evidence."""

    id: str | None = Field(description="Your id")
    uid: str
    label: Label
    subtype: str
    name: str
    text: str = Field(description="Its best passage, verbatim: the proof")
    passages: tuple[Passage, ...] = ()
    score: float = Field(
        description="Higher is better; compares the results of one answer, never two answers. By the fusion: zscore "
        "(0, 1), blend from -alpha up, minmax from 0 up, rrf from 0 up; what the graph hands on comes on top"
    )
    rank: int
    context: str
    domain: str
    speaker: str | None = None
    timestamp: Timestamp | None = None
    flow_id: str | None = None
    flow_step: int | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    kind: Literal["anchor", "associative"] = "anchor"
    channels: tuple[ChannelHit, ...] = ()
    via: tuple[Via, ...] = ()
    sources: tuple[str, ...] = Field((), description="For a Macro-Event, the ids it stands for")


class GraphNode(Message):
    """A node of the answer's sub-graph."""

    uid: str
    id: str | None
    label: Label
    subtype: str
    name: str
    aliases: tuple[str, ...] = Field(
        (), description="Names that it had before, and names of the things in this answer that it stands for"
    )
    text: str | None = None
    context: str
    domain: str
    timestamp: Timestamp | None = None


class GraphEdge(Message):
    """An edge of the answer's sub-graph."""

    id: str
    type: str
    source: str
    target: str
    weight: float
    created_by: str
    certainty: float | None = None
    confidence: float | None = Field(None, description="Of a bridge: how sure it is, in (0, 1]")
    desc: str | None = None


class Graph(Message):
    """The answer as a graph: results, their neighbours one hop away, and their proof."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    paths: tuple[tuple[str, ...], ...] = Field((), description="Edge ids of causal chains, cause first")


class Explanation(Message):
    """How the answer came about; only with ``explain``."""

    wrapped_query: str
    domains_searched: tuple[str, ...] | None
    fusion: str
    channels: dict[str, tuple[dict[str, Any], ...]]
    cut: tuple[str, ...] = Field(description="Uids of results that did not fit into the text")


class RetrieveResponse(Message):
    """The evidence."""

    intent: Intent
    results: tuple[Result, ...]
    graph: Graph
    text: str = Field(description="Ready to paste into a prompt; never longer than budget.chars")
    took_ms: dict[str, float]
    degraded: tuple[str, ...] = Field(
        (),
        description="Channels and stages that failed, ran out of time, or lack what is stored, sorted",
    )
    explain: Explanation | None = None
