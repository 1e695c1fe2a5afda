"""Settings of the read path."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import DateOrder, config


class RetrievalSettings(BaseSettings):
    """The read path."""

    model_config = config("VICW_RETRIEVAL_")

    fusion: Literal["zscore", "rrf"] = Field(
        "zscore", description="How channels are fused: `zscore` (standardised scores) or `rrf` (reciprocal ranks)"
    )
    fulltext_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Weight of `fulltext`, in addition to the other channels, whose weights add up to 1; 0: off",
    )
    statements: bool = Field(
        True, description="Score a passage by its best statement, too, not by its own vector alone"
    )
    neighbour_lift: bool = Field(True, description="Raise the neighbours of a hit in its thread")
    title_match: bool = Field(True, description="Raise knowledge items whose title is in the question")
    people_match: bool = Field(
        True, description="Raise items about the participants and about the people in the best results"
    )
    entity_hops: int = Field(2, ge=0, le=4, description="Hops from one knowledge item to those that it names; 0: none")
    speaker_boost: bool = Field(
        True,
        description="Raise the turns of the one speaker that the question names, and the votes for their domain",
    )
    alpha: float = Field(0.6, ge=0, le=1, description="Weight of `dense` in the fusion; `bm25` has the rest")
    candidates: int = Field(
        100, gt=0, description="Maximum hits of each channel; more if a request asks for more results"
    )
    channel_ms: int = Field(
        2000,
        gt=0,
        description="Time limit of each channel, in ms; a slower channel is left out and named in `degraded`",
    )
    graph_ms: int = Field(
        2000,
        gt=0,
        description="Time limit of each call to the graph, in ms; if it fails, the vectors' payloads alone answer",
    )
    total_ms: int | None = Field(
        None,
        gt=0,
        description="Time limit of a whole answer, in ms; default: those of a channel and of the graph together",
    )
    associates: int = Field(
        5, ge=0, description="Maximum items that share a tag with a result, but no word with the question; 0: none"
    )
    auto_tags: bool = Field(False, description="Follow auto-tags, too, with less weight than tags that callers gave")
    count_uses: bool = Field(
        True, description="Count which items answers show: consolidation leaves recently shown items alone"
    )
    hop_edges: int = Field(
        6400,
        gt=0,
        description="Maximum edges that one hop of a spread or causal chain reads along one kind of edge, a quarter of "
        "it where whole nodes are read; the more nodes, the fewer edges of each",
    )
    spread_ms: int = Field(
        1000,
        gt=0,
        description="Emergency stop: time limit for all spreads through the graph and causal chains of a question "
        "together, in ms; what was reached by then is used",
    )
    graph_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Weight of items reached along typed edges, relative to the best result (0.15 is moderate); "
        "below 0.05 these edges are not followed",
    )
    causal_bias: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Share of the causal sub-graph among items reached along typed edges; knowledge has the rest",
    )
    duplicate_share: float = Field(
        0.9,
        ge=0,
        le=1,
        description="Share of common three-word runs from which two passages become one result; 0: never",
    )
    coverage: float = Field(
        0.3,
        ge=0,
        le=1,
        description="Gain of a knowledge item with all query terms that better results lack, as a share of the "
        "best score; 0: none",
    )
    current_first: bool = Field(
        True,
        description="Rank current statements before the ones that they replaced, unless the question asks for the past",
    )
    profile: bool = Field(
        True, description="Answer 'What do you know about me?' with what the asker told of themself, topic by topic"
    )
    later_first: float = Field(
        1.17,
        ge=0,
        le=3,
        description="What two statements have at least in common, for a question in the present tense to rank the "
        "later before the earlier: the cosine of both, plus that of the later and the question, plus .2 for a word "
        "in both; the cosines are those of the default model; 0: never",
    )
    importance_weight: float = Field(
        0.15,
        ge=0,
        le=1,
        description="Gain of an item of importance 1, as a share of the best score, where importance .5 gains nothing; "
        "0: importance does not count",
    )
    system_below: bool = Field(
        True,
        description="Rank system prompts, tools' messages and schemas below what people said, unless asked for",
    )
    time_boost: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Gain of items of the time that the question asks about, as a share of their score; items of a "
        "day, month or other time that it names gain by the odds of that time, at .5 in full; 0: none",
    )
    time_items: int = Field(
        50,
        gt=0,
        description="Maximum items of a named time that are looked up by it, of those told then and of those telling "
        "of it; more if a request asks for more results",
    )
    time_read: int = Field(
        5000, gt=0, description="Maximum items of a named time that are read to find these among invisible ones"
    )
    filter_items: int = Field(
        2000,
        gt=0,
        le=10_000,
        description="Items that pass a question's filter up to which all searches are restricted to these items; where "
        "more pass, the vectors' hits are checked one by one, and more are read until enough pass",
    )
    date_order: DateOrder = Field(
        "auto",
        description="Order of day and month in dates with slashes (3/5/2026) that nothing in the question decides: "
        "`dmy`, `mdy`, or `auto` (as the tenant's texts show it, else of the language of the question; the month first "
        "in English)",
    )
    chains: int = Field(
        5,
        ge=0,
        le=100,
        description="Maximum causal chains for questions that ask why or what if; 0: single causes only",
    )
    chain_hops: int = Field(6, ge=1, le=20, description="Maximum steps of a causal chain")
    trigger_seeds: int = Field(
        5,
        ge=0,
        description="Maximum items that a question finds by their trigger phrases; 0: trigger phrases are ignored",
    )
    fanout: int = Field(
        30, gt=0, description="Edges of one type and direction that a walk through the graph follows from each node"
    )
    context_nodes: int = Field(
        5000, gt=0, description="Maximum nodes that a walk over a whole context, or a search for causal chains, reads"
    )
    bare_query: bool = Field(
        True, description="Search for code a second time, with a vector between the question's wrapped and plain forms"
    )
    intent: bool = Field(
        True, description="Infer a question's task, and whether it asks for the current state, from its words"
    )
    profiles: Literal["off", "measured", "tasks"] = Field(
        "measured",
        description="Adapt the weights of channels, graph and recency to the question and its hits; `tasks`: also to "
        "the question's task, which no measurement supports",
    )
    recency_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Gain of the latest result, as a share of its score; 0: recency does not count",
    )
    recency_days: float = Field(30.0, gt=0, le=100_000, description="Days after which that gain is half as much")
    rerank_top: int = Field(
        20,
        ge=0,
        le=200,
        description="Maximum results that a re-ranker (VICW_RERANK_*), if there is one, reorders; 0: none",
    )
    rerank_ms: int = Field(
        1000, gt=0, description="Time limit of the re-ranker, in ms; after it the order stays unchanged"
    )
    relevance_file: Path | None = Field(
        None,
        description="Constants of relevance for another embedding model, as `vicw bench relevance --fit` writes them; "
        "default: those of the installation",
    )
    infer_domain: bool = Field(
        True, description="Narrow the search to the domain that the question and its hits point to"
    )
