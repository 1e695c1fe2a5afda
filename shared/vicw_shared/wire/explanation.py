"""Explanation of an answer of ``POST /retrieve``."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from vicw_shared.wire.base import Message
from vicw_shared.wire.feedback import ResultFeedback


class GraphChannel(Message):
    """The graph channel: numbers of items reached by each spread and sub-graph, and whether it ended ``in_time``.

    ``weight`` and ``causal_bias`` are those of typed edges.
    """

    weight: float
    causal_bias: float
    limit_ms: int
    in_time: bool
    reached: dict[str, int]
    sub_graphs: dict[str, int]


class AskedSpan(Message):
    """A span of time that the question names: [start, end)."""

    text: str
    kind: Literal["on", "before", "after", "around"]
    start: datetime
    end: datetime
    confidence: float


class AskedEvent(Message):
    """An event that the question names as a point in time, and the item identified with it (``uid``)."""

    text: str
    direction: Literal["before", "after", "during"]
    confidence: float
    uid: str | None


class AskedTime(Message):
    """The time that the question asks about.

    ``only``: the time is the question's only criterion, and there are items of that time: all of them come first.
    """

    spans: tuple[AskedSpan, ...]
    events: tuple[AskedEvent, ...]
    only: bool
    in_time: bool


class ProfileWeights(Message):
    """Weights used for the question, all in [0, 1], and the composition of its best hits."""

    code: float = Field(description="Share of code")
    long: float = Field(0.0, description="Share of long passages")
    alpha: float = Field(description="Weight of `dense`; `bm25` has the rest")
    graph_weight: float
    causal_bias: float
    recency_weight: float
    recency_days: float = Field(description="Days after which recency is half as much")


class RerankedResult(Message):
    """A result's reranking: the score, on the model's own scale, and the rank before, from 1."""

    score: float
    rank_before: int


class RelevanceSignals(Message):
    """Signals from which relevance was computed, by name: of the answer, and of each result by uid."""

    answer: dict[str, float]
    results: dict[str, dict[str, float]]


class AppliedFilters(Message):
    """Filters of the search; null and empty do not restrict it. ``audience``: for whom the answer is."""

    contexts: tuple[str, ...] | None
    domains: tuple[str, ...] | None = Field(description="Canonical names, given by the caller or inferred")
    tags_any: tuple[str, ...]
    tags_all: tuple[str, ...]
    tags_none: tuple[str, ...]
    as_of: datetime | None
    known_at: datetime | None
    judged_at: datetime = Field(description="Time at which expiry and validity are evaluated")
    audience: Literal["everything", "viewer", "group"] = Field(
        description="What the application may see, a viewer alone, or a viewer in a group chat"
    )


class Explanation(Message):
    """Explanation of the answer; only with ``explain``."""

    wrapped_query: str
    domains_searched: tuple[str, ...] | None
    filters: AppliedFilters
    profile: ProfileWeights
    fusion: str
    channels: dict[str, tuple[dict[str, Any], ...]] = Field(
        description="The first fifty of each, with rank and score. Passages: `dense`, `bm25`, `fulltext`, and "
        "`graph` (found by trigger phrases). Items: `tags`, and each spread of the graph with the gain of each item"
    )
    graph: GraphChannel
    time: AskedTime | None = None
    relevance: RelevanceSignals | None = None
    rerank: dict[str, RerankedResult] | None = Field(
        None, description="Re-ranking by uid; null if no re-ranker was called or it failed"
    )
    boosts: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="Score gains outside the channels, by uid and source"
    )
    bounded: tuple[str, ...] = Field(
        (),
        description="Stages that left something out because one hop reads at most VICW_RETRIEVAL_HOP_EDGES edges: "
        "`bridges`, `people`, `tags`, `current`, `causal_chains`",
    )
    feedback: dict[str, ResultFeedback] = Field(
        default_factory=dict, description="What was said of results (`POST /feedback`), by uid"
    )
    cut: tuple[str, ...] = Field(description="Uids of results that did not fit into the text")
    shortened: tuple[str, ...] = Field((), description="Uids of results that were cut to fit the budget")
    lines_cut: dict[str, int] = Field(
        default_factory=dict,
        description="Number of context lines omitted from the text, by result uid",
    )
