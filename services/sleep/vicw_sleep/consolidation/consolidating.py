"""The use case: summarise → check → embed → write → only then prune (design: "Sleep cycle").

Nothing is removed before what stands for it has been checked and is in the vector store; then one transaction of the
graph does the rest, and logs it. A run that dies leaves either what was or what is to be; beside it at most points that
nobody has, which no answer shows and the reconciler removes. What was refused is judged anew by the next run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np
import structlog
from numpy.typing import NDArray
from prometheus_client import Counter

from vicw_shared.errors import NotFoundError
from vicw_shared.folding.fold import MAKER, ChangedError, Fold, Folder
from vicw_shared.folding.unfold import Unfolded, Unfolder
from vicw_shared.indexes import Indexes
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.points import point_of, wrapped
from vicw_shared.ports import (
    Flow,
    GraphStore,
    GraphTransaction,
    Lane,
    Outcome,
    PendingKind,
    PendingPoint,
    SleepLog,
    Step,
    UnreadItems,
    WorkQueue,
)
from vicw_shared.uids import make_uid
from vicw_sleep.consolidation.batching import Rules, batches
from vicw_sleep.consolidation.checking import missing, unlike
from vicw_sleep.consolidation.gathering import read_material
from vicw_sleep.consolidation.material import Material
from vicw_sleep.consolidation.summarising import summarise, told_by
from vicw_sleep.consolidation.wording import cut_lines, title_of
from vicw_sleep.undoing import undoable

_log = structlog.get_logger()
_FLOWS = 100
_EVENTS = 200
"""Events of a flow that are looked at together: their summaries are embedded at once."""
_TOLD = 5
FOLDED = Counter("vicw_consolidate_events_total", "Events that Macro-Events stand for now")
REFUSED = Counter("vicw_consolidate_refused_total", "Batches that would have lost something, and were left as they are")

type Told = Callable[[Flow, Fold | None, str], None]
"""Is told of each batch: what it is folded into, or why it is not."""


class Graph(GraphStore, SleepLog, Protocol):
    """What consolidation needs of a graph."""


@dataclass(slots=True)
class Consolidated:
    """What a run did: ``flows`` looked at, ``events`` folded into ``macros``, batches ``refused`` or ``changed``
    meanwhile.
    """

    flows: int = 0
    events: int = 0
    macros: int = 0
    refused: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Draft:
    """A batch with its summary; ``lost`` says what the summary does not tell.

    ``rows`` are the vectors of its passages in the index in use, shape (passages, size); None: there are none.
    """

    sources: Sequence[Material]
    fold: Fold
    lost: str = ""
    rows: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Consolidation:
    """Consolidates, and takes back. Any number of these may be at work: the graph's lock tells who was first.

    A summary takes ``share`` of the vectors of its sources' passages at most, those that keep theirs counted in, and is
    cut at ``chunk_chars``.
    """

    graph: Graph
    unread: UnreadItems
    indexes: Indexes
    registry: EdgeRegistry
    queue: WorkQueue
    chunk_chars: int = 1200
    share: float = 0.45
    told: Told = field(default=lambda flow, fold, reason: None)

    async def run(self, rules: Rules, *, now: datetime, dry: bool = False, most: int | None = None) -> Consolidated:
        """Fold what may be folded, ``most`` batches at most; ``dry``: only tell. Raises what the engines raise."""
        done = Consolidated()
        try:
            await self._run(rules, done, now=now, dry=dry, most=most)
        finally:
            if done.macros and not dry:
                await self.queue.wake()
        return done

    async def _run(self, rules: Rules, done: Consolidated, *, now: datetime, dry: bool, most: int | None) -> None:
        async for flow in self._flows():
            done.flows += 1
            async for page in self._pages(flow):
                material = await read_material(self.graph, self.unread, page)
                ended = page[-1].created_at < rules.before
                drafts = [self._draft(batch) for batch in batches(material, rules, ended=ended)]
                for draft, refusal in await self._judged(drafts):
                    if most is not None and done.macros >= most:
                        return
                    await self._settle(flow, draft, refusal, done, now=now, dry=dry)

    async def undo(self, step_id: str, *, now: datetime, grace: timedelta) -> Unfolded:
        """Bring back what a step has folded. Raises NotFoundError for a step that cannot be undone, with the reason."""
        step = await undoable(self.graph, step_id, MAKER, now=now, grace=grace)

        async def work(transaction: GraphTransaction) -> Unfolded:
            macro = (await transaction.nodes([step.subject])).get(step.subject)
            if macro is None:
                raise NotFoundError(f"What step {step_id!r} made has been folded again. Undo that step first")
            done = await Unfolder(transaction, self.registry, now).unfold(macro)
            await transaction.log_step(_step(macro, Outcome.UNDONE, now, len(done.items)))
            return done

        done = await self.graph.write(step.tenant, step.context, work)
        await self._discard(done.gone)
        await self.queue.wake()
        return done

    async def _flows(self) -> AsyncIterator[Flow]:
        after: Flow | None = None
        while page := await self.graph.flows(after=after, limit=_FLOWS):
            after = page[-1]
            for flow in page:
                yield flow

    async def _pages(self, flow: Flow) -> AsyncIterator[list[Node]]:
        after: Node | None = None
        while page := await self.graph.thread(flow.tenant, flow.context, flow.flow_id, _EVENTS, after=after):
            after = page[-1]
            yield page

    def _draft(self, sources: Sequence[Material]) -> Draft:
        room = max(1, int(self.share * _vectors(sources)))
        told = told_by(sources)
        summary = summarise(sources, told, most=room * self.chunk_chars)
        fold = Fold(
            tuple(one.event for one in sources),
            tuple(passage for one in sources for passage in one.passages),
            tuple(cut_lines(summary, self.chunk_chars)),
            title_of(sources),
        )
        facts = missing(sources, told, summary)
        more = f" and {len(facts) - _TOLD} more" if len(facts) > _TOLD else ""
        lost = f"the summary does not tell {', '.join(f'{f.kind} {f.key!r}' for f in facts[:_TOLD])}{more}"
        return Draft(sources, fold, lost if facts or not fold.texts else "")

    async def _judged(self, drafts: Sequence[Draft]) -> list[tuple[Draft, str]]:
        """Return the drafts with what keeps their vector, each with the reason why it is refused, if it is."""
        index = (await self.indexes.writing())[0]
        sound = [draft for draft in drafts if not draft.lost]
        if not index.model.has_vectors or not sound:
            return [(draft, draft.lost) for draft in drafts]
        rows = await index.embedder.embed([text for draft in sound for text in _wrapped(draft.fold)], Lane.BULK)
        judged, start = {}, 0
        for draft in sound:
            end = start + len(draft.fold.texts)
            wanted = [n.uid for one in draft.sources for n in (*one.passages, *one.statements)]
            left = unlike(draft.sources, rows[start:end], await index.vectors.dense(wanted))
            vectors = _vectors(draft.sources)
            room = max(0, int(self.share * vectors) - len(draft.fold.texts))
            reason = f"the summary stands for {vectors - len(left)} of {vectors} passages only"
            reason = reason if 2 * len(left) > vectors else ""
            heavy = left[:room]
            fold = replace(draft.fold, heavy=tuple(heavy))
            judged[id(draft)] = replace(draft, fold=fold, rows=rows[start:end]), reason
            start = end
        return [judged.get(id(draft), (draft, draft.lost)) for draft in drafts]

    async def _settle(
        self, flow: Flow, draft: Draft, refusal: str, done: Consolidated, *, now: datetime, dry: bool
    ) -> None:
        fold = draft.fold
        self.told(flow, None if refusal else fold, refusal)
        if refusal:
            done.refused += 1
            if not dry:
                await self._refuse(fold, refusal, now)
            return
        if not dry:
            try:
                await self._fold(draft, now)
            except ChangedError as error:
                _log.info("a batch is left to the next run", reason=error.detail, context=flow.context)
                done.changed += 1
                return
            FOLDED.inc(len(fold.sources))
        done.macros += 1
        done.events += len(fold.sources)

    async def _fold(self, draft: Draft, now: datetime) -> None:
        fold = draft.fold
        macro = fold.macro
        for place, index in enumerate(await self.indexes.writing()):
            if index.model.has_vectors:
                rows = draft.rows if place == 0 else None
                rows = rows if rows is not None else await index.embedder.embed(_wrapped(fold), Lane.BULK)
                points = [point_of(one, row) for one, row in zip(_pending(fold), rows, strict=True)]
                await index.vectors.upsert(points)

        async def work(transaction: GraphTransaction) -> None:
            await Folder(transaction, self.registry, now).fold(fold)
            await transaction.log_step(_step(macro, Outcome.DONE, now, len(fold.sources)))

        try:
            await self.graph.write(macro.tenant, macro.context, work)
        except ChangedError:
            if macro.uid not in await self.graph.nodes(macro.tenant, [macro.uid]):  # nobody else has just made it
                await self._discard([passage.uid for passage in fold.summary])
            raise

    async def _refuse(self, fold: Fold, reason: str, now: datetime) -> None:
        REFUSED.inc()
        step = _step(fold.macro, Outcome.REFUSED, now, len(fold.sources), reason)
        await self.graph.write(step.tenant, step.context, lambda transaction: transaction.log_step(step))

    async def _discard(self, points: Sequence[str]) -> None:
        for index in await self.indexes.writing():
            await index.vectors.delete(points)


def _vectors(sources: Sequence[Material]) -> int:
    """Return how many passages have a vector of their own."""
    return sum(not passage.is_light for one in sources for passage in one.passages)


def _pending(fold: Fold) -> list[PendingPoint]:
    """Return the passages of a summary as an indexer would find them."""
    return [PendingPoint(0, one.uid, PendingKind.UPSERT, one, fold.macro) for one in fold.summary]


def _wrapped(fold: Fold) -> list[str]:
    return [wrapped(pending) for pending in _pending(fold)]


def _step(macro: Node, outcome: Outcome, now: datetime, sources: int, reason: str = "") -> Step:
    return Step(
        id=make_uid(MAKER, macro.uid),
        tenant=macro.tenant,
        context=macro.context,
        task=MAKER,
        outcome=outcome,
        at=now,
        subject=macro.uid,
        reason=reason,
        details={"flow": macro.flow_id, "sources": sources, "name": macro.name},
    )
