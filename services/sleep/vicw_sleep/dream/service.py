"""The use case: look at items, page by page → find what they are like → add tags → log each item's step.

An item is dreamt of once something came of it; what a person has undone is left alone for good. Nothing that somebody
has told is changed: all that a dream makes is edges of its own, and tags for them (``vicw_shared.dreams``). Any number
of these may be at work, and any may die: what is added is judged again by the transaction that adds it.
"""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from prometheus_client import Counter

from vicw_shared.dreams import MADE, drop_dream_edges
from vicw_shared.edge_factory import DREAM
from vicw_shared.indexes import Indexes
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import (
    GraphTransaction,
    Items,
    ItemView,
    MaintenanceStep,
    Nodes,
    Outcome,
    Store,
    WorkQueue,
    scan_pages,
)
from vicw_shared.progress import Progress, silent
from vicw_shared.undo import undoable, undone
from vicw_sleep.dream.auto_tags import AutoTagger
from vicw_sleep.dream.commit import AddedTags, DreamCommit, DreamResult, dreamt_in, step_id
from vicw_sleep.dream.similarity import SimilarityIndex
from vicw_sleep.mirror.atoms import Atom, atom_of
from vicw_sleep.scheduler import SliceDeadline

PAGE = 50
_LABELS = (Label.EVENT, Label.ENTITY)
WIPED = "wiped"
"""What the details of a step say whose item may be dreamt of again, though it is undone."""
TAGGED = Counter("vicw_dream_tags_total", "Auto-tags that dreams have given to items")

type OnItem = Callable[[DreamResult], None]
"""Is told of each item to which something is added, and what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRules:
    """What is dreamt of: items learnt before ``before``. What is less sure than ``certainty`` is left.

    An item has up to ``tags`` with its auto-tags.
    """

    before: datetime
    tags: int = 3
    certainty: float = 0.65


@dataclass(frozen=True, slots=True)
class DreamBookmark:
    """Where a run has come to: behind an item (uid) of a tenant and a label."""

    tenant: str
    label: Label
    after: str | None

    @property
    def written(self) -> list[object]:
        """What ``read`` takes, as JSON."""
        return [self.tenant, self.label.value, self.after]

    @classmethod
    def read(cls, written: Sequence[Any]) -> DreamBookmark:
        """Return the bookmark that was written."""
        tenant, label, after = written
        return cls(tenant, Label(label), after)


@dataclass(slots=True)
class DreamReport:
    """What a run did: ``items`` looked at, ``tags`` added to ``dreamt`` items; where the next goes on."""

    items: int = 0
    dreamt: int = 0
    tags: int = 0
    next: DreamBookmark | None = None


@dataclass(frozen=True, slots=True)
class Dream:
    """Dreams, and takes back."""

    graph: Store
    indexes: Indexes
    registry: EdgeRegistry
    queue: WorkQueue
    on_item: OnItem = field(default=lambda dreamt: None)
    progress: Progress = silent

    async def run(
        self,
        rules: DreamRules,
        *,
        now: datetime,
        dry: bool = False,
        start: DreamBookmark | None = None,
        most: int | None = None,
        seconds: float | None = None,
    ) -> DreamReport:
        """Look at items from ``start`` on; ``dry``: only tell. Raises what the engines raise.

        It ends after ``most`` items, or the first page that is looked at after so many ``seconds``.
        """
        done, deadline = DreamReport(), SliceDeadline(seconds)
        foretold = Count[str]() if dry else None
        total = sum([await self.graph.audit.count(label) for label in _LABELS])
        try:
            async for behind, whole in pages(self.graph, start):
                page = whole if most is None else whole[: most - done.items]
                mark = behind if len(page) == len(whole) else replace(behind, after=page[-1].item.uid)
                await self._look(page, rules, done, now, foretold)
                done.items += len(page)
                self.progress("dreaming", done.items, total)
                if deadline.passed or (most is not None and done.items >= most):
                    done.next = mark
                    break
        finally:
            if done.dreamt and not dry:
                await self.queue.wake()  # whoever keeps a copy of an item hears of its tags through its passages
        return done

    async def undo(self, step_id: str, *, now: datetime, grace: timedelta) -> int:
        """Take back what a step added; return how many edges. Its item is not dreamt of again.

        Raises NotFoundError for a step that cannot be undone, with the reason.
        """
        step = await undoable(self.graph.log, step_id, DREAM, now=now, grace=grace)

        async def work(transaction: GraphTransaction) -> int:
            mine = dreamt_in(await transaction.edges([step.subject], MADE), step.id)
            await drop_dream_edges(transaction, mine, now)
            await transaction.log_step(undone(step, now))
            return len(mine)

        gone = await self.graph.write(step.tenant, step.context, work)
        await self.queue.wake()
        return gone

    async def _look(
        self, page: Sequence[ItemView], rules: DreamRules, done: DreamReport, now: datetime, foretold: Count[str] | None
    ) -> None:
        atoms = [atom for whole in page if (atom := atom_of(whole)) is not None and _is_fit(atom, rules, now)]
        short = [atom for atom in atoms if len(atom.tags) + len(atom.auto_tags) < rules.tags]
        due = [atom for atom in short if may_be_dreamt_of(await self.graph.log.step(step_id(atom.item.uid)))]
        due.sort(key=lambda atom: atom.item.context)
        for context, some in groupby(due, key=lambda atom: atom.item.context):
            if dreams := await self._dreamt(list(some), rules, now):
                await self._add(context, dreams, rules, done, now, foretold)

    async def _dreamt(self, atoms: Sequence[Atom], rules: DreamRules, now: datetime) -> list[DreamResult]:
        """Return what there is for items of one context: those for which there is something."""
        vectors = (await self.indexes.writing()).vectors
        alike = await SimilarityIndex(self.graph, vectors, now).of(atoms)
        embedded = [atom for atom in atoms if atom.item.uid in alike]
        tags = await AutoTagger(self.graph, vectors).of(embedded, alike)
        dreams = []
        for atom in embedded:
            uid = atom.item.uid
            room = rules.tags - len(atom.tags) - len(atom.auto_tags)
            sure = [tag for tag in tags[uid] if tag.certainty >= rules.certainty][:room]
            dreams += [DreamResult(atom, sure, [one.atom.item.uid for one in alike[uid]])] if sure else []
        return dreams

    async def _add(
        self,
        context: str,
        dreams: Sequence[DreamResult],
        rules: DreamRules,
        done: DreamReport,
        now: datetime,
        foretold: Count[str] | None,
    ) -> None:
        async def work(transaction: GraphTransaction) -> AddedTags:
            return await DreamCommit(transaction, self.registry, now, rules.tags, foretold).add(dreams)

        added = await self.graph.write(dreams[0].atom.item.tenant, context, work)
        if foretold is not None:
            foretold.update(edge.target for edge in added.edges)
        else:
            TAGGED.inc(len(added.edges))
        for one in map(added.of, dreams):
            if one.tags:
                self.on_item(one)
        done.dreamt += len(added.tags)
        done.tags += len(added.edges)


async def pages(
    graph: Store, start: DreamBookmark | None = None
) -> AsyncIterator[tuple[DreamBookmark, list[ItemView]]]:
    """Yield all live items, page by page, each with the place behind it: those behind ``start``."""
    for tenant in await _tenants(graph):
        for label in _LABELS:
            if start is not None and (tenant, _LABELS.index(label)) < (start.tenant, _LABELS.index(start.label)):
                continue
            here = start is not None and (start.tenant, start.label) == (tenant, label)
            after = start.after if start is not None and here else None
            async for page in scan_pages(graph, Items(tenant, label), after=after, limit=PAGE):
                yield DreamBookmark(tenant, label, page[-1].item.uid), page


async def _tenants(graph: Store) -> list[str]:
    return sorted({root.tenant async for page in scan_pages(graph, Nodes(Label.CONTEXT)) for root in page})


def may_be_dreamt_of(step: MaintenanceStep | None) -> bool:
    """Tell whether an item may be dreamt of whose step this is: once, but again after a wipe."""
    return step is None or (step.outcome is Outcome.UNDONE and bool(step.details.get(WIPED)))


def _is_fit(atom: Atom, rules: DreamRules, now: datetime) -> bool:
    return atom.item.created_at < rules.before and (atom.ends_at is None or atom.ends_at > now)
