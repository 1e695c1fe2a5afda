"""``POST /retrieve``."""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from enum import StrEnum
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from vicw_shared.model import Label, Sensitivity
from vicw_shared.wire.answer_format import Budget, Template
from vicw_shared.wire.base import (
    Id,
    Message,
    Prose,
    StrictBool,
    StrictInt,
    Timestamp,
    TimeZone,
    Unit,
    ZonedTimestamp,
    example,
)
from vicw_shared.wire.examples import retrieve
from vicw_shared.wire.explanation import Explanation
from vicw_shared.wire.filters import Filter, MetadataKey, Value
from vicw_shared.wire.named_time import NamedTime
from vicw_shared.wire.plain_conditions import PlainConditions
from vicw_shared.wire.statement_change import StatementChange
from vicw_shared.wire.viewer import Viewer


class TagFilter(Message):
    """Tags that a result must have, or must not have."""

    any: tuple[Id, ...] = ()
    all: tuple[Id, ...] = ()
    none: tuple[Id, ...] = ()


class Expand(Message):
    """Expansion of each result in the graph."""

    hops: Annotated[StrictInt, Field(ge=0, le=1)] = 1


class Channel(StrEnum):
    """A way of finding evidence."""

    DENSE = "dense"
    BM25 = "bm25"
    FULLTEXT = "fulltext"


class RetrieveRequest(PlainConditions):
    """A question, and conditions on its results."""

    model_config = example(retrieve.REQUEST)

    query: Prose
    context: Id | None = Field(None, description="Search one context; null: every context the caller may see")
    domain: Prose | None = Field(None, description="Strict filter; null: inferred from the query and its hits")
    limit: Annotated[StrictInt, Field(ge=1)] = 10
    min_relevance: Unit = Field(0.0, description="Leave out results whose `relevance` is lower; 0 leaves out none")
    viewer: Viewer | None = None
    tags: TagFilter = TagFilter()
    metadata: dict[MetadataKey, Value] = Field(
        default_factory=dict, description="Conditions on keys of the metadata: each a value, or operators"
    )
    filter: Filter | None = Field(None, description="A filter, for what the other fields cannot say")
    as_of: Timestamp | None = Field(None, description="What was true then")
    known_at: Timestamp | None = Field(None, description="What was known then")
    query_time: ZonedTimestamp | None = Field(
        None,
        description="The caller's current time; default: the server's time in UTC. Its offset defines day boundaries, "
        "and `text` tells times in it, unless there is a `timezone`",
    )
    timezone: TimeZone | None = Field(
        None,
        description="The asker's zone, such as Europe/Berlin, with its changes of clocks: it defines days, and "
        "`text` tells times in it; default: that of `viewer`, then the offset of `query_time`, then UTC",
    )
    channels: Annotated[tuple[Channel, ...], Field(min_length=1)] | None = Field(
        None, description="Only these channels; null: all"
    )
    expand: Expand = Expand()
    budget: Budget = Budget()
    template: Template = Template()
    explain: StrictBool = False
    cursor: Id | None = Field(
        None, description="The `next` of the page before; beside it only `limit` and what forms the answer may change"
    )

    @property
    def zone(self) -> tzinfo:
        """The asker's zone: whose days "today" and "yesterday" are, and in which times are told."""
        if name := self.timezone or (self.viewer.timezone if self.viewer is not None else None):
            zone: tzinfo | None = ZoneInfo(name)
        else:
            zone = self.query_time.tzinfo if self.query_time is not None else None
        # A zone without changes of clocks has an offset without a date.
        return UTC if zone is None or zone.utcoffset(None) == timedelta(0) else zone


class Task(StrEnum):
    """The task behind a question."""

    UNDERSTAND = "understand"
    FIND_SPEC = "find_spec"
    FIX_BUG = "fix_bug"
    FIND_DECISION = "find_decision"
    ADD_FEATURE = "add_feature"
    REFACTOR = "refactor"


class Intent(Message):
    """Inferred domain and task of a question. Confidences are in [0, 1]; a low one of the domain widens the search."""

    domain: str
    confidence: float = Field(description="Of the domain")
    domain_source: Literal["given", "query", "hits", "none"] = Field(description="Source of the domain")
    filtered: bool = Field(description="Whether the results were narrowed to the domain")
    ambiguous: bool = Field(
        False,
        description="Whether the question fits several domains alike: the results of each then stand together, "
        "those of the best domain first, and scores compare only results of one domain",
    )
    domains: dict[str, float] = Field(
        default_factory=dict,
        description="If it is ambiguous, how well each of these domains fits, in [0, 1], best first",
    )
    task: Task | None = Field(None, description="The question's task; null: unknown")
    task_confidence: float = 0.0
    now: bool = Field(False, description="Whether the question asks for the current state")


class ChannelHit(Message):
    """A channel's ranking of a result: rank from 1, score on the channel's own scale, higher is better.

    ``fulltext``: the graph's full-text index, used if a setting enables it, without vectors, and while the vector
    engine is down or being rebuilt.
    ``graph``: the question contains a trigger phrase of the item (protected items rank first, then by importance), or
    edges lead to the item. The score is in [0, 1]; ``depth`` is the number of edges (0: the phrase alone),
    ``edge_type`` the type of the last one.
    ``tags``: the item shares tags with results and no word with the question; the score is relative to the best item's.
    """

    channel: Literal["dense", "bm25", "fulltext", "graph", "tags"]
    rank: int
    score: float
    depth: int | None = Field(None, description="Of `graph`: number of edges from what the question finds or names")
    edge_type: str | None = Field(None, description="Of `graph`: type of the last edge on the path")
    sub_graph: Literal["causal", "knowledge"] | None = None


class Via(Message):
    """An edge that leads to or from a result."""

    type: str
    direction: Literal["out", "in"]
    uid: str


class Passage(Message):
    """A further passage of a result; its score is on the result's scale."""

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
        description="Higher is better; comparable only within one answer. Boosts are included. With `zscore` it is "
        "in (0, 1); with `rrf` it is a sum of reciprocal ranks, or the score of the only channel with hits"
    )
    relevance: float = Field(
        0.0,
        description="In [0, 1], comparable between answers: how likely this result is evidence for the question; never "
        "more than the answer's `relevance`",
    )
    rank: int
    context: str
    domain: str
    speaker: str | None = None
    timestamp: Timestamp | None = None
    flow_id: str | None = None
    flow_step: int | None = Field(None, description="Its position in the flow by arrival; null if there is a viewer")
    tags: tuple[str, ...] = ()
    source: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    kind: Literal["anchor", "associative"] = "anchor"
    duplicates: tuple[str, ...] = Field(
        (), description="Near-duplicates that this result replaces, by your ids or uids"
    )
    channels: tuple[ChannelHit, ...] = ()
    via: tuple[Via, ...] = ()
    changes: tuple[StatementChange, ...] = Field(
        (), description="What was told earlier of the same and is no result, and corrections; `text` has a line of each"
    )
    sources: tuple[str, ...] = Field((), description="For a Macro-Event, the ids of its source items")
    consolidated_into: str | None = Field(
        None, description="For a consolidated item, the uid of the Macro-Event that replaces it in the graph"
    )

    @property
    def node(self) -> str:
        """The uid of its node in the graph; for a consolidated item that of the Macro-Event."""
        return self.consolidated_into or self.uid


class GraphNode(Message):
    """A node of the answer's sub-graph."""

    uid: str
    id: str | None
    label: Label
    subtype: str
    name: str
    aliases: tuple[str, ...] = Field((), description="Former names, and names of merged entities in this answer")
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
    confidence: float | None = Field(None, description="Of a bridge, in (0, 1]")
    desc: str | None = None


class ChainStep(Message):
    """One edge of a causal chain. If two texts report the same event, its ends may differ from the adjacent steps'."""

    edge: str = Field(description="Its id")
    type: str
    cause: str = Field(description="Uid of its source")
    effect: str = Field(description="Uid of its target")
    certainty: float = Field(description="In [0, 1]: as stated, else the edge's weight")
    proof: str | None = Field(None, description="Uid of the passage (Chunk) that proves it")
    quote: str | None = Field(None, description="The words of that passage about it, verbatim except for white space")
    source_item: str | None = Field(None, description="Uid of the item whose text states it")


class CausalChain(Message):
    """A causal chain. It begins at the event in question; going back, its root comes last."""

    direction: Literal["back", "forward"] = Field(description="back: to causes; forward: to consequences")
    certainty: float = Field(description="In [0, 1]: the product of the steps' certainties")
    complete: bool = Field(
        description="Whether it ends where nothing further is known, not at a limit on length or time"
    )
    steps: tuple[ChainStep, ...]


class AnswerGraph(Message):
    """The answer as a graph: results, their neighbours one hop away, causal chains, and their proof."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    paths: tuple[tuple[str, ...], ...] = Field(
        (), description="Edge ids of each chain, in the order of its steps; then each other causal edge alone"
    )
    chains: tuple[CausalChain, ...] = Field(
        (), description="For questions that ask why or what if: the most relevant first, then the most certain"
    )


class Answered(StrEnum):
    """Whether the results hold the evidence for a question, by the answer's ``relevance``."""

    LIKELY = "likely"
    UNSURE = "unsure"
    NOTHING = "nothing"


class RetrieveResponse(Message):
    """The evidence for a question."""

    model_config = example(retrieve.RESPONSE)

    intent: Intent
    results: tuple[Result, ...]
    next: str | None = Field(
        None, description="The `cursor` of the next page: the best results among those not shown yet; null at the end"
    )
    relevance: float = Field(
        0.0,
        description="In [0, 1], comparable between answers: how likely the results hold evidence for the question. "
        "Fitted where half of the questions have some (docs/retrieval.md)",
    )
    answered: Answered = Field(
        Answered.UNSURE,
        description="`likely`, `unsure`, or `nothing` where the question is foreign to what is stored; `text` says so, "
        "too, unless it is `likely`. The results are there in any case",
    )
    graph: AnswerGraph
    text: str = Field(description="Ready to paste into a prompt; never longer than the budget")
    took_ms: dict[str, float]
    degraded: tuple[str, ...] = Field(
        (),
        description="Channels and stages that failed, timed out or had incomplete data, sorted. "
        "With `embedding` the server has just started and still loads its model: full text and the graph answer. "
        "With `pending`, memories that the caller may see wait for their vectors and may be missing",
    )
    time: NamedTime | None = Field(None, description="The time that the question names; null: none")
    explain: Explanation | None = None
