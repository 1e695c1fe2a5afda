"""Operation ``sleep/resolve``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_runtime.operations import Memory, Operation, Report
from vicw_shared.clock import now
from vicw_shared.model import Node
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_sleep.resolve.job import resolver_of, rules_of
from vicw_sleep.resolve.merge_decision import DecidedPair


class ResolveRequest(Message):
    """Merge entities that are stored under two names."""

    model_config = example({"tenant": "default", "dry_run": True, "threshold": 0.9})

    tenant: Id | None = Field(None, description="Only this tenant; null: all")
    dry_run: StrictBool = Field(False, description="Only report what would be merged, and what would not")
    threshold: Annotated[float, Field(strict=True, ge=0.85, le=1)] | None = Field(
        None, description="Minimum similarity of names; null: VICW_RESOLVE_THRESHOLD"
    )
    limit: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        None, description="Maximum number of pairs to judge; null: all"
    )


class NamedEntity(Message):
    """An entity."""

    uid: str
    name: str


class JudgedPair(Message):
    """Two entities of a context, and what became of them."""

    model_config = example(
        {
            "outcome": "merged",
            "context": story.NOVEL,
            "first": {"uid": story.RAVEN, "name": "The Raven"},
            "second": {"uid": "6a1f0d7c-3b52-5e8d-9c40-2d7e1b9a5f63", "name": "the raven"},
            "reason": "the same name",
        }
    )

    outcome: str
    context: str
    first: NamedEntity
    second: NamedEntity
    reason: str


class ResolveResult(Message):
    """Of ``pairs`` of ``names``, ``merged`` were merged; ``split`` earlier merges were undone."""

    model_config = example({"names": 9, "pairs": 1, "merged": 1, "split": 0})

    names: StrictInt
    pairs: StrictInt
    merged: StrictInt
    split: StrictInt


async def run(memory: Memory, request: ResolveRequest, report: Report[JudgedPair]) -> ResolveResult:
    """Judge all likely pairs. Completed merges stay if it is stopped; run it again to continue."""
    rules = rules_of(memory.settings.resolve)
    if request.threshold is not None:
        rules = replace(rules, threshold=request.threshold)
    resolver = replace(resolver_of(memory), progress=report.progress, on_pair=lambda pair: report.item(_judged(pair)))
    done = await resolver.run(rules, now=now(), dry=request.dry_run, max_pairs=request.limit, tenant=request.tenant)
    return ResolveResult(names=done.names, pairs=done.pairs, merged=done.merged, split=done.split)


def _judged(decided: DecidedPair) -> JudgedPair:
    first, second = decided.entities
    return JudgedPair(
        outcome=decided.outcome.value,
        context=first.context,
        first=_named(first),
        second=_named(second),
        reason=decided.reason,
    )


def _named(entity: Node) -> NamedEntity:
    return NamedEntity(uid=entity.uid, name=entity.name)


RESOLVING = Operation(
    name="sleep/resolve",
    summary="Merge entities that are stored under two names",
    request=ResolveRequest,
    result=ResolveResult,
    item=JudgedPair,
    run=run,
    of_tenant=True,
    change=lambda request: None if request.dry_run else ChangeKind.RUN,
)
