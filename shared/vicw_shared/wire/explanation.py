"""Explanation of an answer of ``POST /retrieve``."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from vicw_shared.wire.base import Message


class GraphChannel(Message):
    """How far the graph led: by which spreads and sub-graphs to how many items, and whether the time sufficed.

    ``weight`` and ``causal_bias`` are those of typed edges.
    """

    weight: float
    causal_bias: float
    budget_ms: int
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
    """An event by which the question says when, and the item that it was taken for."""

    text: str
    direction: Literal["before", "after", "during"]
    confidence: float
    uid: str | None


class AskedTime(Message):
    """When the question asks about. ``only``: nothing else selects, so only what happened then is in the answer; false
    where nothing of then was found.
    """

    spans: tuple[AskedSpan, ...]
    events: tuple[AskedEvent, ...]
    only: bool
    in_time: bool


class ProfileWeights(Message):
    """The weights that a question was answered by, all in [0, 1], and what its best hits are made of."""

    code: float = Field(description="Share of code")
    long: float = Field(0.0, description="Share of long passages")
    alpha: float = Field(description="Weight of `dense`; `bm25` has the rest")
    graph_weight: float
    causal_bias: float
    recency_weight: float
    recency_days: float = Field(description="Days after which recency is half as much")


class JudgedResult(Message):
    """What a re-ranker said of a result: its score, whose scale is the model's, and the rank before it, from 1."""

    score: float
    rank_before: int


class AppliedFilters(Message):
    """What the answer was searched in: null and empty leave all in. ``audience``: who is told of it."""

    contexts: tuple[str, ...] | None
    domains: tuple[str, ...] | None = Field(description="Canonical names, as the caller gave them or as was inferred")
    tags_any: tuple[str, ...]
    tags_all: tuple[str, ...]
    tags_none: tuple[str, ...]
    as_of: datetime | None
    known_at: datetime | None
    judged_at: datetime = Field(description="The now by which things expire, and are still true")
    audience: Literal["everything", "viewer", "group"] = Field(
        description="What the application may see, a viewer alone, or a viewer in a group chat"
    )


class Explanation(Message):
    """How the answer came about; only with ``explain``."""

    wrapped_query: str
    domains_searched: tuple[str, ...] | None
    filters: AppliedFilters
    profile: ProfileWeights
    fusion: str
    channels: dict[str, tuple[dict[str, Any], ...]] = Field(
        description="The first fifty of each, with rank and score. Passages: `dense`, `bm25`, `fulltext`, and `graph`, "
        "which trigger phrases found. Items: `tags`, and each spread of the graph with what it raised an item by"
    )
    graph: GraphChannel
    time: AskedTime | None = None
    rerank: dict[str, JudgedResult] | None = Field(
        None, description="What the re-ranker said of the results, by uid; null where none was asked, or none answered"
    )
    boosts: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="What results gained beside the channels, by uid and by what"
    )
    cut: tuple[str, ...] = Field(description="Uids of results that did not fit into the text")
    shortened: tuple[str, ...] = Field((), description="Uids of results that were cut to fit the budget")
    lines_cut: dict[str, int] = Field(
        default_factory=dict,
        description="How many lines of what stands around a result that is in the text did not fit, by its uid",
    )
