"""Measures retrieval fidelity: every question is asked, and its evidence looked for among the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from vicw_bench.fidelity.busy_loops import busy_loops
from vicw_bench.fidelity.names import BY_NAMES, ask_by_names
from vicw_bench.filling import Filled, fill, read_marker, write_marker
from vicw_bench.metrics import Answered, Scores, by_category, score
from vicw_bench.sets import FidelitySet, Question
from vicw_bench.targets import LocalTarget, Target
from vicw_shared.progress import Progress
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.ingest import Extract
from vicw_shared.wire.retrieve import Channel, RetrieveRequest

LIMIT = 10
NOTICEABLE = 0.02
"""A loss in R@10 against the better single channel that a report marks."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A way of asking: ``channels`` None are all; ``retrieval`` overrides settings of the read path.

    Without ``vectors`` it is answered as where there are none (VICW_EMBEDDER=none); ``anywhere``, without a context.
    ``busy`` loops run beside it.
    """

    name: str
    channels: tuple[Channel, ...] | None = None
    retrieval: Mapping[str, Any] = field(default_factory=dict)
    vectors: bool = True
    anywhere: bool = False
    busy: int = 0


def beside_busy_loops(count: int) -> Variant:
    """Return the memory as it is set, asked on a busy machine: it should find the same."""
    return Variant(f"beside {count} busy loop{'s' if count > 1 else ''}", busy=count)


AS_SET = Variant("as set")
DENSE = Variant("dense", (Channel.DENSE,))
BM25 = Variant("bm25", (Channel.BM25,))
FUSIONS = tuple(
    Variant(name, retrieval={"fusion": name}) for name in get_args(RetrievalSettings.model_fields["fusion"].annotation)
)
"""Each way of fusing that the settings know."""
_OFF: Mapping[str, Mapping[str, Any]] = {
    "statements": {"statements": False},
    "speaker": {"speaker_boost": False},
    "named": {"title_match": False},
    "lift": {"neighbour_lift": False},
    "bridges": {"entity_hops": 0},
    "time": {"time_boost": 0.0},
    "current first": {"current_first": False},
    "profile": {"profile": False},
    "later first": {"later_first": 0.0},
    "importance": {"importance_weight": 0.0},
    "system texts": {"system_below": False},
    "trigger phrases": {"trigger_seeds": 0},
    "people": {"people_match": False},
    "coverage": {"coverage": 0.0},
    "near-duplicates": {"duplicate_share": 0.0},
    "tags": {"associates": 0},
    "chains": {"chains": 0},
    "domain inference": {"infer_domain": False},
    "bare query": {"bare_query": False},
    "intent": {"intent": False},
    "profiles": {"profiles": "off"},
}
_WITHOUT = "without "
WITHOUT = tuple(Variant(f"{_WITHOUT}{name}", retrieval=off) for name, off in _OFF.items())
"""All of the read path but one mechanism: what it is worth is what is lost without it."""
_ON: Mapping[str, Mapping[str, Any]] = {
    "fulltext": {"fulltext_weight": 0.2},
    "bridges of 1 hop": {"entity_hops": 1},
    "bridges of 3 hops": {"entity_hops": 3},
    "bridges of 4 hops": {"entity_hops": 4},
    "typed edges": {"graph_weight": 0.15},
    "causal edges alone": {"graph_weight": 0.15, "causal_bias": 1.0},
    "edges of knowledge alone": {"graph_weight": 0.15, "causal_bias": 0.0},
    "profiles of tasks": {"profiles": "tasks"},
    "recency": {"recency_weight": 0.2},
    "auto-tags": {"auto_tags": True},
}
WITH = tuple(Variant(f"with {name}", retrieval=on) for name, on in _ON.items())
"""All of the read path and one mechanism that is off as a rule, or set otherwise."""
WITHOUT_RERANKING = Variant(f"{_WITHOUT}re-ranking", retrieval={"rerank_top": 0})
"""Where a re-ranker is configured."""
NO_VECTORS = Variant("no vectors", vectors=False)
ANYWHERE = Variant("any context", anywhere=True)
ABLATION = (DENSE, BM25, NO_VECTORS, AS_SET, ANYWHERE, *FUSIONS, *WITHOUT, *WITH)
WITHOUT_VECTORS = (AS_SET, *(variant for variant in WITHOUT if "statements" not in variant.retrieval))
"""What can be left out where there are no vectors: statements have none of their own then."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One set, asked in one way. ``unsure`` are the questions of which no task was told, asked as set."""

    variant: str
    overall: Scores
    categories: dict[str, Scores]
    unsure: Scores | None = None


@dataclass(frozen=True, slots=True)
class SetReport:
    """One set: how it was filled, and what each way of asking found."""

    name: str
    items: int
    blank: int
    questions: int
    filled: Filled
    filled_now: bool
    ways: tuple[Measured, ...]

    def gain(self, way: Measured) -> tuple[float, float] | None:
        """R@5 and R@10 that a mechanism is worth, in [-1, 1]: what is lost without it, or gained with one that is off.

        Of another way of asking, what it has more than the memory as it is set; None where that was not asked.
        """
        usual = next((one.overall for one in self.ways if one.variant == AS_SET.name), None)
        if usual is None or way.variant == AS_SET.name:
            return None
        sign = -1 if way.variant.startswith(_WITHOUT) else 1
        found = way.overall
        return sign * (found.recall_at_5 - usual.recall_at_5), sign * (found.recall_at_10 - usual.recall_at_10)

    @property
    def against_single(self) -> dict[str, float]:
        """R@10 of each fusion minus that of the better single channel, in [-1, 1]; empty without an ablation."""
        return _against_single({way.variant: way.overall.recall_at_10 for way in self.ways}, (AS_SET, *FUSIONS))

    @property
    def unsure_against_single(self) -> tuple[int, float] | None:
        """How many questions no task was told of, and the same of these, asked as set; None where there are none."""
        found = {way.variant: way.unsure for way in self.ways if way.unsure is not None}
        gains = _against_single({name: scores.recall_at_10 for name, scores in found.items()}, (AS_SET,))
        return (found[AS_SET.name].questions, gains[AS_SET.name]) if gains else None


def _against_single(found: Mapping[str, float], variants: Sequence[Variant]) -> dict[str, float]:
    if not {DENSE.name, BM25.name} <= found.keys():
        return {}
    single = max(found[DENSE.name], found[BM25.name])
    return {variant.name: found[variant.name] - single for variant in variants if variant.name in found}


type Opener = Callable[[Path], AbstractAsyncContextManager[Target]]


async def ensure_filled(
    target: Target, data: FidelitySet, store: Path | None, progress: Progress, extract: Extract = Extract.AUTO
) -> tuple[Filled, bool]:
    """Fill the memory if it is not; return what that took, and whether it was now. Without ``store``: always."""
    known = read_marker(store) if store is not None else None
    if known is not None:
        return known, False
    total = len(data.items)
    filled = await fill(target, data, lambda done: progress(f"{data.name}: remembering", done, total), extract)
    if store is not None:
        write_marker(store, filled)
    return filled, True


async def ask_all(
    target: Target,
    data: FidelitySet,
    variant: Variant,
    progress: Progress,
    *,
    pooled: bool = False,
    strict: bool = True,
) -> list[Answered]:
    """Ask every question, one after the other. ``pooled`` leaves out the context, not ``strict`` the domain."""
    with busy_loops(variant.busy):
        return await _ask_all(target, data, variant, progress, pooled=pooled, strict=strict)


async def _ask_all(
    target: Target, data: FidelitySet, variant: Variant, progress: Progress, *, pooled: bool, strict: bool
) -> list[Answered]:
    answers = []
    for question in data.questions:
        request = _request(question, variant, pooled=pooled, strict=strict)
        started = time.perf_counter()
        response = await target.ask(request, variant.retrieval, vectors=variant.vectors)
        ms = (time.perf_counter() - started) * 1000
        answers.append(
            Answered(
                category=question.category,
                # An id names an item inside its context only; a namesake elsewhere is no evidence.
                found=tuple(r.id or r.uid if r.context == question.context else r.uid for r in response.results),
                relevant=question.relevant,
                ms=ms,
                domain=question.domain,
                domains=tuple(result.domain for result in response.results),
                degraded=bool(response.degraded),
                narrowed_to=response.intent.domain if response.intent.filtered else None,
                sure=response.intent.task is not None,
                apart=response.intent.ambiguous,
                context=question.context,
            )
        )
        progress(f"{data.name}: asking ({variant.name})", len(answers), len(data.questions))
    return answers


def _request(question: Question, variant: Variant, *, pooled: bool, strict: bool) -> RetrieveRequest:
    return RetrieveRequest(
        query=question.query,
        context=None if pooled or variant.anywhere else question.context,
        domain=question.domain if strict else None,
        limit=LIMIT,
        channels=variant.channels,
        query_time=question.query_time,
    )


async def measure(
    target: Target,
    data: FidelitySet,
    store: Path | None,
    variants: tuple[Variant, ...],
    progress: Progress,
    extract: Extract = Extract.AUTO,
) -> SetReport:
    """Fill the memory with ``data`` where needed, and ask its questions in every way; in an ablation by names, too."""
    filled, now = await ensure_filled(target, data, store, progress, extract)
    asked = {variant.name: await ask_all(target, data, variant, progress) for variant in variants}
    unsure = [number for number, answer in enumerate(asked.get(AS_SET.name, ())) if not answer.sure]
    ways = [
        Measured(name, score(answers), by_category(answers), score([answers[n] for n in unsure]) if unsure else None)
        for name, answers in asked.items()
    ]
    if any(variant in WITHOUT for variant in variants) and isinstance(target, LocalTarget):
        answers = await ask_by_names(target.graph, target.tenant, data, progress)
        ways.append(Measured(BY_NAMES, score(answers), by_category(answers)))
    return SetReport(data.name, len(data.items), data.blank, len(data.questions), filled, now, tuple(ways))
