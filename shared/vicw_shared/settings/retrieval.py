"""Settings of the read path."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings

from vicw_shared.settings.concerns import config


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
    statements: bool = Field(True, description="Weigh what single sentences of a passage say with the whole of it")
    neighbour_lift: bool = Field(True, description="Let a hit in a thread lift what stands beside it")
    title_match: bool = Field(True, description="Prefer knowledge items that the question names by their title")
    people_match: bool = Field(True, description="Prefer items about the viewers and about the people in the results")
    bridge_hops: int = Field(2, ge=0, le=4, description="Steps from one knowledge item to those that it names; 0: none")
    speaker_boost: bool = Field(
        True, description="Prefer the items of the one speaker that the question names, and the speaker's domain"
    )
    alpha: float = Field(0.6, ge=0, le=1, description="Weight of `dense`; `bm25` has the rest")
    candidates: int = Field(100, gt=0, description="Hits that each channel brings")
    budget_ms: int = Field(
        2000,
        gt=0,
        description="Time each channel may take, in ms; a slower one is left out and named in `degraded`",
    )
    graph_ms: int = Field(
        2000, gt=0, description="Patience with the graph, in ms; then the answer comes from the vectors' payloads alone"
    )
    total_ms: int | None = Field(
        None, gt=0, description="Time a whole answer may take, in ms; default: that of channels and graph together"
    )
    associates: int = Field(
        5, ge=0, description="Items that share a tag with a result, and no word with the question, at most; 0: none"
    )
    dreams: bool = Field(False, description="Let auto-tags lead to results as tags do that people gave, of less weight")
    count_uses: bool = Field(
        True, description="Count which items answers show: consolidation leaves recently shown items alone"
    )
    spread_ms: int = Field(
        40, gt=0, description="Time that spreads through the graph may take, in ms; what they found by then counts"
    )
    graph_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="What typed edges lead to counts, beside the best result (0.15 is moderate); under 0.05 they are "
        "not followed",
    )
    causal_bias: float = Field(
        0.5, ge=0, le=1, description="Share of the causal sub-graph in what they lead to; knowledge has the rest"
    )
    duplicate_share: float = Field(
        0.9,
        ge=0,
        le=1,
        description="Share of their runs of three words from which two passages are one result; 0: never",
    )
    coverage: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Of what the best result is worth, what a knowledge item gains that has all words of the question "
        "which none before it has; 0: nothing",
    )
    current_first: bool = Field(
        True,
        description="Rank current statements before the ones that they replaced, unless the question asks for the past",
    )
    time_boost: float = Field(
        0.5,
        ge=0,
        le=1,
        description="Of what a result is worth, what it gains that happened when the question asks about; 0: none",
    )
    chains: int = Field(
        5, ge=0, le=100, description="Causal chains that a question why, or what if, gets; 0: single causes alone"
    )
    chain_hops: int = Field(6, ge=1, le=20, description="Steps of a causal chain at most")
    chain_ms: int = Field(
        100, gt=0, description="Time limit for following causes, in ms; chains found by then are used"
    )
    trigger_seeds: int = Field(
        5,
        ge=0,
        description="Items that a question brings up by their trigger phrases at most; 0 leaves trigger phrases out",
    )
    fanout: int = Field(
        30, gt=0, description="Edges of one type and direction that a walk through the graph follows from one node"
    )
    context_read: int = Field(
        5000, gt=0, description="Nodes of a context that a walk over the whole context reads at most"
    )
    bare_query: bool = Field(
        True, description="Search for code again by what lies between a question's wrapped form and its plain one"
    )
    intent: bool = Field(True, description="Tell a question's task, and whether it asks for now, by its words")
    profiles: Literal["off", "measured", "tasks"] = Field(
        "measured",
        description="Weigh channels, graph and recency by what a question and its hits are about; `tasks`: also by the "
        "task that it is for, where nothing measured tells for or against",
    )
    recency_weight: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Of what a result is worth, what the latest one gains; 0: it does not count when",
    )
    recency_days: float = Field(30.0, gt=0, le=100_000, description="Days after which that is half as much")
    rerank_top: int = Field(
        20,
        ge=0,
        le=200,
        description="Results that a re-ranker (VICW_RERANK_*) orders anew, where there is one; 0: none",
    )
    rerank_ms: int = Field(
        1000, gt=0, description="Time that it may take, in ms; after that the order stands as it was"
    )
    infer_domain: bool = Field(True, description="Narrow to a domain that the query and its hits point to")
