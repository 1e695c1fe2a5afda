"""Decide on one pair and merge it in one transaction, on evidence read again inside: it may have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from vicw_shared.canonical import is_guess
from vicw_shared.edge_factory import RESOLVE
from vicw_shared.errors import MissingRecordError
from vicw_shared.identity.merge import MergeDecision, apply_merge, apply_split, merged_into
from vicw_shared.identity.pairs import SimilarPair
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import GraphTransaction, MaintenanceStep, Outcome
from vicw_shared.uids import make_uid
from vicw_shared.undo import undone
from vicw_sleep.resolve.evidence_reader import EvidenceReader
from vicw_sleep.resolve.match_rules import EntityEvidence, contradictions, shared_company

STEP = "step"
"""Property of a merge: the id of its step."""
INTO = "into"
"""Detail of a step: the canonical entity of its subject. Names are not kept, since erasure would have to
remove them.
"""


class MergeOutcome(StrEnum):
    """The decision on a pair."""

    MERGE = "merge"
    LEAVE = "leave"
    SPLIT = "split"


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """The decision on two entities: the first was merged into the second, split from it, or left, with the reason."""

    fate: MergeOutcome
    things: tuple[Node, Node]
    reason: str


def step_id(things: Iterable[Node]) -> str:
    """Return the id of the step of two entities: they are merged once, in either direction."""
    return make_uid(RESOLVE, *sorted(node.uid for node in things))


@dataclass(frozen=True, slots=True)
class MergeDecider:
    """Decides inside one transaction. ``shared``: minimum number of things named with both entities."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime
    shared: int

    async def decide(self, pair: SimilarPair, *, dry: bool) -> DecidedPair:
        """Merge two entities if they are the same, and log it; ``dry``: only return the decision."""
        nodes = await self.transaction.nodes([node.uid for node in pair.entities])
        things = [node for node in nodes.values() if is_named_node(node)]
        merges = [await merged_into(self.transaction, node.uid) for node in things]
        if len(things) < len(pair.entities) or any(merges):
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, "they have changed meanwhile")
        known = await EvidenceReader(self.transaction, self.registry).of(*things)
        if known is None:
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, "they have too many edges to compare")
        reason, company = contradictions(*known), shared_company(*known)
        if not reason and len(company) < self.shared:
            reason = f"only the names match: {len(company)} things are named with both, {self.shared} have to be"
        if reason:
            return DecidedPair(MergeOutcome.LEAVE, pair.entities, reason)
        source, target = (one.thing for one in sorted(known, key=_rank))
        if not dry:
            await self._merge(pair, source, target, len(company))
        return DecidedPair(MergeOutcome.MERGE, (source, target), f"{len(company)} things are named with both")

    async def doubt(self, guess: Edge, *, dry: bool) -> DecidedPair | None:
        """Split two entities merged by similarity if there is evidence against it now; ``dry``: only return the
        decision.
        """
        nodes = await self.transaction.nodes([guess.source, guess.target])
        merged = await merged_into(self.transaction, guess.source)
        if len(nodes) < 2 or merged is None or not is_guess(merged) or merged.target != guess.target:
            return None
        source, target = nodes[guess.source], nodes[guess.target]
        known = await EvidenceReader(self.transaction, self.registry).of(source, target)
        reason = contradictions(*known) if known is not None else ""
        if reason and not dry:
            decision = MergeDecision(source.tenant, self.now, self.registry, by=RESOLVE)
            await apply_split(self.transaction, decision, source, target)
            step = self._step(source, target, {"score": merged.properties.get("certainty")})
            await self.transaction.log_step(replace(step, outcome=Outcome.UNDONE, reason=reason))
        return DecidedPair(MergeOutcome.SPLIT, (source, target), reason) if reason else None

    async def _merge(self, pair: SimilarPair, source: Node, target: Node, company: int) -> None:
        said = {STEP: step_id(pair.entities), "certainty": pair.score}
        decision = MergeDecision(source.tenant, self.now, self.registry, by=RESOLVE, properties=said)
        await apply_merge(self.transaction, decision, source, target)
        told = {"score": pair.score, "names": pair.reason, "shared": company}
        await self.transaction.log_step(self._step(source, target, told))

    def _step(self, source: Node, target: Node, told: Mapping[str, object]) -> MaintenanceStep:
        return MaintenanceStep(
            id=step_id((source, target)),
            tenant=source.tenant,
            context=source.context,
            task=RESOLVE,
            outcome=Outcome.DONE,
            at=self.now,
            subject=source.uid,
            details={INTO: target.uid, **told},
        )


async def split_merge(transaction: GraphTransaction, step: MaintenanceStep, decision: MergeDecision) -> bool:
    """Split what a step merged, and log it; return False if it was split already.

    Raises MissingRecordError if a person has confirmed the merge since: it does not belong to the step any more.
    """
    into = str(step.details[INTO])
    nodes = await transaction.nodes([step.subject, into])
    merged = await merged_into(transaction, step.subject)
    mine = merged is not None and merged.properties.get(STEP) == step.id
    if merged is not None and merged.target == into and not mine:
        raise MissingRecordError(
            f"Step {step.id!r} is a person's decision since: `vicw entities split {step.subject}` takes that back"
        )
    if mine:
        await apply_split(transaction, decision, nodes[step.subject], nodes[into])
    await transaction.log_step(undone(step, decision.at))
    return mine


def _rank(known: EntityEvidence) -> tuple[int, float, str]:
    return known.rank
