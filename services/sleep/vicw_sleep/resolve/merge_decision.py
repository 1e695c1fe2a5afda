"""Decide on one pair and merge it in one transaction, on evidence read again inside: it may have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from vicw_core.graph.canonical import is_inferred
from vicw_core.graph.edge_factory import RESOLVE
from vicw_core.identity.merge import MergeDecision, apply_merge, apply_split, merged_into
from vicw_core.identity.pairs import SimilarPair
from vicw_core.undo import log_undone
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome
from vicw_shared.uids import make_uid
from vicw_sleep.resolve.evidence_reader import EvidenceReader
from vicw_sleep.resolve.match_rules import EntityEvidence, contradictions, shared_co_mentions
from vicw_sleep.resolve.model import INTO

STEP = "step"
"""Property of a merge: the id of its step."""


class MergeOutcome(StrEnum):
    """The decision on a pair."""

    MERGE = "merge"
    LEAVE = "leave"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """The decision on two entities: the first was merged into the second, split from it, or left, with the reason."""

    outcome: MergeOutcome
    entities: tuple[Node, Node]
    reason: str


def step_id(entities: Iterable[Node]) -> str:
    """Return the id of the step of two entities: they are merged once, in either direction."""
    return make_uid(RESOLVE, *sorted(node.uid for node in entities))


@dataclass(frozen=True, slots=True)
class MergeDecider:
    """Decides inside one transaction. ``shared``: minimum number of entities named with both."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    shared: int

    async def decide(self, pair: SimilarPair, *, dry: bool) -> DecidedPair:
        """Merge two entities if they are the same, and log it; ``dry``: only return the decision."""
        nodes = await self.transaction.nodes([node.uid for node in pair.entities])
        entities = [node for node in nodes.values() if is_named_node(node)]
        merges = [await merged_into(self.transaction, node.uid) for node in entities]
        if len(entities) < len(pair.entities) or any(merges):
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, "they have changed meanwhile")
        evidence = await EvidenceReader(self.transaction, self.registry).of(*entities)
        if evidence is None:
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, "they have too many edges to compare")
        reason, co_mentioned = contradictions(*evidence), shared_co_mentions(*evidence)
        if not reason and len(co_mentioned) < self.shared:
            reason = f"only the names match: {len(co_mentioned)} entities are named with both, {self.shared} have to be"
        if reason:
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, reason)
        source, target = (one.entity for one in sorted(evidence, key=_rank))
        if not dry:
            await self._merge(pair, source, target, len(co_mentioned))
        return DecidedPair(MergeOutcome.MERGE, (source, target), f"{len(co_mentioned)} entities are named with both")

    async def reconsider(self, guess: Edge, *, dry: bool) -> DecidedPair | None:
        """Split two entities merged by similarity if there is evidence against it now; ``dry``: only return the
        decision.
        """
        nodes = await self.transaction.nodes([guess.source, guess.target])
        merged = await merged_into(self.transaction, guess.source)
        if len(nodes) < 2 or merged is None or not is_inferred(merged) or merged.target != guess.target:
            return None
        source, target = nodes[guess.source], nodes[guess.target]
        evidence = await EvidenceReader(self.transaction, self.registry).of(source, target)
        reason = contradictions(*evidence) if evidence is not None else ""
        if reason and not dry:
            decision = MergeDecision(source.tenant, self.now, self.registry, by=RESOLVE)
            await apply_split(self.transaction, decision, source, target)
            step = self._step(source, target, {"score": merged.properties.get("certainty")})
            await self.transaction.log_step(replace(step, outcome=Outcome.UNDONE, reason=reason))
        return DecidedPair(MergeOutcome.SPLIT, (source, target), reason) if reason else None

    async def _merge(self, pair: SimilarPair, source: Node, target: Node, co_mentioned: int) -> None:
        properties = {STEP: step_id(pair.entities), "certainty": pair.score}
        decision = MergeDecision(source.tenant, self.now, self.registry, by=RESOLVE, properties=properties)
        await apply_merge(self.transaction, decision, source, target)
        details = {"score": pair.score, "names": pair.reason, "shared": co_mentioned}
        await self.transaction.log_step(self._step(source, target, details))

    def _step(self, source: Node, target: Node, details: Mapping[str, object]) -> MaintenanceStep:
        return MaintenanceStep(
            id=step_id((source, target)),
            tenant=source.tenant,
            context=source.context,
            task=RESOLVE,
            outcome=Outcome.DONE,
            at=self.now,
            subject=source.uid,
            details={INTO: target.uid, **details},
        )


async def split_merge(
    transaction: GraphTransaction, step: MaintenanceStep, decision: MergeDecision, *, key: str | None = None
) -> bool:
    """Split what a step merged, and log it as a change by this ``key``; return False if it was split already.

    Raises MissingRecordError if a person has confirmed the merge since: it does not belong to the step any more.
    """
    into = str(step.details[INTO])
    nodes = await transaction.nodes([step.subject, into])
    merged = await merged_into(transaction, step.subject)
    is_own = merged is not None and merged.properties.get(STEP) == step.id
    if merged is not None and merged.target == into and not is_own:
        raise MissingRecordError(
            f"Step {step.id!r} was confirmed by a person since. `vicw entities split {step.subject}` undoes that"
        )
    if is_own:
        await apply_split(transaction, decision, nodes[step.subject], nodes[into])
    await log_undone(transaction, step, decision.at, key=key)
    return is_own


def _rank(evidence: EntityEvidence) -> tuple[int, float, str]:
    return evidence.rank
