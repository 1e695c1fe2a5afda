"""The use case: summarise → check → embed → write → only then prune.

Nothing is removed before its summary has been checked and is in the vector store. One graph transaction then does the
rest and logs it. A run that dies leaves either the old or the new state, at most with orphaned points, which no answer
shows and the reconciler removes. A refused or undone batch is skipped while it is unchanged and its log entry exists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from prometheus_client import Counter

from vicw_core.consolidation.consolidate import MAKER, ChangedError, ConsolidatedBatch, Consolidator, macro_uid
from vicw_core.consolidation.restore import RestoredItems, Restorer
from vicw_core.index.points import point_of
from vicw_core.undo import log_undone, undoable
from vicw_runtime.indexes import Indexes
from vicw_shared.errors import MissingRecordError, VicwError
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import (
    Direction,
    Flow,
    GraphTransaction,
    Lane,
    MaintenanceStep,
    Outcome,
    PendingExtractions,
    Point,
    Store,
    WorkQueue,
)
from vicw_shared.progress import Yield, yield_to_event_loop
from vicw_shared.uids import chunk_uid, make_uid
from vicw_sleep.consolidation.batches import ConsolidationRules, batches, may_consolidate
from vicw_sleep.consolidation.llm_requests import LlmRequester
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.pace import BatchSize
from vicw_sleep.consolidation.source_reader import ContextRef, FlowBookmark, pages, read_sources
from vicw_sleep.consolidation.summary.abstractive import AbstractiveSummarizer
from vicw_sleep.consolidation.summary.drafts import SummaryDraft, SummaryDrafter, pending_of, texts_of
from vicw_sleep.schedule.scheduler import SliceDeadline

_log = structlog.get_logger()
CONSOLIDATED = Counter("vicw_consolidate_events_total", "Events that were consolidated into Macro-Events")
REFUSED = Counter(
    "vicw_consolidate_refused_total", "Batches left as they are, since their summary would have lost something"
)

type OnBatch = Callable[[Flow, ConsolidatedBatch | None, str], None]
"""Called for each batch with its consolidation, or with the reason for the refusal."""


@dataclass(slots=True)
class ConsolidationReport:
    """Result of a run: ``flows`` visited, ``events`` consolidated into ``macros``, batches ``refused`` or ``changed``
    meanwhile, and batches ``skipped`` because they were refused or undone before. ``next`` is where to continue; None:
    the run is complete.
    """

    flows: int = 0
    events: int = 0
    macros: int = 0
    refused: int = 0
    changed: int = 0
    skipped: int = 0
    next: FlowBookmark | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    rules: ConsolidationRules
    now: datetime
    dry: bool
    max_batches: int | None
    deadline: SliceDeadline
    again: bool
    drafter: SummaryDrafter
    pace: BatchSize
    done: ConsolidationReport = field(default_factory=ConsolidationReport)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Consolidates Events, and undoes a consolidation. Any number of instances may run: the graph's lock decides which
    is first.

    A summary takes at most ``share`` of the vectors of its sources' passages, including the passages that keep theirs,
    and is cut at ``chunk_chars``. The model of ``llm`` writes it, if there is one. ``yield_to_foreground``: see
    ``SummaryDrafter``.
    """

    graph: Store
    pending_extractions: PendingExtractions
    indexes: Indexes
    registry: EdgeRegistry
    queue: WorkQueue
    chunk_chars: int = 1200
    share: float = 0.45
    llm: LlmRequester | None = None
    yield_to_foreground: Yield = yield_to_event_loop
    on_batch: OnBatch = field(default=lambda flow, batch, reason: None)
    event_page: int = 200
    """Events of a flow that are read together with their passages."""
    max_passages: int = 1000
    """An Event with more passages, or a Macro-Event with more behind it, is not consolidated, to bound the reads."""

    async def run(
        self,
        rules: ConsolidationRules,
        *,
        now: datetime,
        dry: bool = False,
        max_batches: int | None = None,
        seconds: float | None = None,
        again: bool = False,
        start: FlowBookmark | None = None,
        within: ContextRef | None = None,
        tenant: str | None = None,
    ) -> ConsolidationReport:
        """Consolidate all eligible Events; ``dry``: only report them. Raises what the engines raise.

        The run ends after ``max_batches`` batches, or after the first batch completed once ``seconds`` have passed.

        ``again``: reconsider batches that were refused or undone before; without it, a dry run reports why they are
        left. ``start``: where the previous run stopped. ``within``: only this context. ``tenant``: only this tenant.
        """
        author = AbstractiveSummarizer(self.llm) if self.llm is not None else None
        drafter = SummaryDrafter(self.indexes, self.chunk_chars, self.share, author, self.yield_to_foreground)
        run = _Run(rules, now, dry, max_batches, SliceDeadline(seconds), again, drafter, BatchSize(self.llm))
        done, is_started = run.done, False
        try:
            async for mark, page in pages(self.graph, start, within, self.event_page, tenant):
                if is_started and run.deadline.passed:
                    done.next = mark
                    break
                is_started = True
                done.flows += mark.after is None
                if may_consolidate(page, rules) and not await self._page(page, run):
                    done.next = mark
                    break
        finally:
            if done.macros and not dry:
                await self.queue.wake()
        return done

    async def _page(self, page: Sequence[Node], run: _Run) -> bool:
        """Consolidate the eligible Events of a page; return whether the page is complete."""
        sources = await read_sources(self.graph, self.pending_extractions, page, self.max_passages)
        ended, is_started = page[-1].created_at < run.rules.before, False
        remaining = list(batches(sources, run.rules, ended=ended))
        while remaining:
            if is_started and run.deadline.passed:
                return False
            group, remaining = run.pace.take(remaining)
            fresh = [batch for batch in group if run.again or not await self._is_settled(batch, run)]
            drafts = await run.drafter.drafts(fresh)
            # Drafts by the model first: a slice past its deadline uses all of those and no others.
            for draft in sorted(drafts, key=lambda one: not one.by_model):
                is_over = is_started and run.deadline.passed and not draft.by_model
                if is_over or (run.max_batches is not None and run.done.macros >= run.max_batches):
                    return False
                await self._finish(draft, run)
                is_started = True
        return True

    async def _is_settled(self, batch: Sequence[SourceEvent], run: _Run) -> bool:
        """Return whether a batch was refused, or restored by a person. An updated batch is a different one."""
        step = await self.graph.log.step(_step_id(macro_uid([one.event for one in batch])))
        if step is None or step.outcome is Outcome.DONE:
            return False
        run.done.skipped += 1
        if run.dry:
            flow = Flow(step.tenant, step.context, batch[0].event.flow_id or "")
            self.on_batch(flow, None, f"{step.outcome.value} before{f': {step.reason}' if step.reason else ''}")
        return True

    async def undo(self, step_id: str, *, now: datetime, grace: timedelta, key: str | None = None) -> RestoredItems:
        """Restore the Events that a step consolidated.

        ``key``: the id of the caller's key, for the record of changes. Raises MissingRecordError, with the reason, if
        the step cannot be undone.
        """
        step = await undoable(self.graph.log, step_id, MAKER, now=now, grace=grace)

        async def work(transaction: GraphTransaction) -> RestoredItems:
            macro = (await transaction.nodes([step.subject])).get(step.subject)
            if macro is None or macro.retired_at is not None:
                raise MissingRecordError(await _missing_reason(transaction, step, macro))
            done = await Restorer(transaction, self.registry, now).restore(macro)
            await log_undone(transaction, step, now, key=key)
            return done

        done = await self.graph.write(step.tenant, step.context, work)
        await self._discard(done.deleted_points)
        await self.queue.wake()
        return done

    async def _finish(self, draft: SummaryDraft, run: _Run) -> None:
        batch, refusal, done = draft.batch, draft.refusal, run.done
        macro = batch.macro
        self.on_batch(Flow(macro.tenant, macro.context, macro.flow_id or ""), None if refusal else batch, refusal)
        if refusal:
            done.refused += 1
            if not run.dry:
                await self._refuse(batch, refusal, run.now)
            return
        if not run.dry:
            try:
                await self._consolidate(draft, run.now)
            except ChangedError as error:
                _log.info("a batch is left to the next run", reason=error.detail, context=macro.context)
                done.changed += 1
                return
            CONSOLIDATED.inc(len(batch.sources))
        done.macros += 1
        done.events += len(batch.sources)

    async def _consolidate(self, draft: SummaryDraft, now: datetime) -> None:
        batch = draft.batch
        macro = batch.macro
        index, points = await self.indexes.write_index(), list[Point]()
        if index.model.has_vectors:
            rows = draft.rows if draft.rows is not None else await index.embedder.embed(texts_of(batch), Lane.BULK)
            points = [point_of(one, row) for one, row in zip(pending_of(batch), rows, strict=True)]
            await index.vectors.upsert(points)

        async def work(transaction: GraphTransaction) -> None:
            await Consolidator(transaction, self.registry, now).consolidate(batch)
            by = {"by": "llm"} if draft.by_model else {}
            await transaction.log_step(_step(macro, Outcome.DONE, now, len(batch.sources), **by))

        try:
            await self.graph.write(macro.tenant, macro.context, work)
        except ChangedError:
            if macro.uid not in await self.graph.nodes(macro.tenant, [macro.uid]):  # no other run has just created it
                await self._discard([passage.uid for passage in batch.summary])
            raise
        if points:  # a reconciliation in between may have removed them as orphans
            present = await index.vectors.present([point.id for point in points])
            if lost := [point for point in points if point.id not in present]:
                await index.vectors.upsert(lost)
                if macro.uid not in await self.graph.nodes(macro.tenant, [macro.uid]):  # the Macro-Event is gone
                    await index.vectors.delete([point.id for point in lost])

    async def _refuse(self, batch: ConsolidatedBatch, reason: str, now: datetime) -> None:
        REFUSED.inc()
        step = _step(batch.macro, Outcome.REFUSED, now, len(batch.sources), reason)
        uids = [source.uid for source in batch.sources]

        async def work(transaction: GraphTransaction) -> None:
            if len(await transaction.nodes(uids)) == len(uids):  # otherwise the step would describe erased Events
                await transaction.log_step(step)

        await self.graph.write(step.tenant, step.context, work)

    async def _discard(self, points: Sequence[str]) -> None:
        """Remove orphaned points. A failure is only logged: no answer shows them, and the reconciler removes them."""
        try:
            await (await self.indexes.write_index()).vectors.delete(points)
        except VicwError as error:
            _log.warning("points are left to the reconciler", points=len(points), error=error.detail)


async def _missing_reason(transaction: GraphTransaction, step: MaintenanceStep, retired: Node | None) -> str:
    """Return why the Macro-Event of a step is missing. One that was consolidated again keeps its first passage."""
    if retired is not None:
        return f"The Macro-Event of step {step.id!r} has expired, and its Events with it: an expiry cannot be undone"
    proofs = await transaction.edges([chunk_uid(step.subject, 0)], ["EVIDENCED_BY"], Direction.IN)
    owners = await transaction.nodes([proof.source for proof in proofs])
    if macro := next((owner for owner in owners.values() if owner.is_macro), None):
        later = _step_id(macro.uid)
        return (
            f"The Macro-Event of step {step.id!r} has been consolidated again by step {later!r}. Undo that step first"
        )
    return (
        f"The Macro-Event of step {step.id!r} no longer exists: its Events were restored when one of them was "
        f"changed or erased. There is nothing to undo"
    )


def _step(macro: Node, outcome: Outcome, now: datetime, sources: int, reason: str = "", **more: str) -> MaintenanceStep:
    return MaintenanceStep(
        id=_step_id(macro.uid),
        tenant=macro.tenant,
        context=macro.context,
        task=MAKER,
        outcome=outcome,
        at=now,
        subject=macro.uid,
        reason=reason,
        details={"flow": macro.flow_id, "sources": sources, "name": macro.name, **more},
    )


def _step_id(macro: str) -> str:
    return make_uid(MAKER, macro)
