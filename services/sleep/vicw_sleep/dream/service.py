"""The use case: process items page by page → find similar items → add tags → log each item's step.

An item has one dream that adds something; an item whose dream a person undid is left alone for good. Callers' data
never changes: a dream makes only edges of its own, and tags for them (``vicw_core.graph.dreams``). Any number of
instances may run, and any may die: the transaction that adds tags checks its input again.
"""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from prometheus_client import Counter

from vicw_core.graph.dreams import MADE, drop_dream_edges
from vicw_core.graph.edge_factory import DREAM
from vicw_core.tenants import tenants_of
from vicw_core.undo import log_undone, undoable
from vicw_runtime.indexes import Indexes
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.ports import (
    Extractor,
    GraphTransaction,
    Items,
    ItemView,
    MaintenanceStep,
    Outcome,
    Store,
    WorkQueue,
    scan_pages,
)
from vicw_shared.progress import Progress, silent
from vicw_sleep.dream.auto_tags import AutoTagger
from vicw_sleep.dream.commit import AddedTags, DreamCommit, DreamResult, dreamt_in, step_id
from vicw_sleep.dream.similarity import SimilarityIndex
from vicw_sleep.mirror.atoms import Atom, atom_of
from vicw_sleep.schedule.scheduler import SliceDeadline

PAGE = 50
_LABELS = (Label.EVENT, Label.ENTITY)
WIPED = "wiped"
"""Detail of an undone step whose item may get another dream."""
TAGGED = Counter("vicw_dream_tags_total", "Auto-tags that dreams have given to items")

type OnItem = Callable[[DreamResult], None]
"""Called with each item that got tags, and the tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRules:
    """Conditions of dreams: items learnt before ``before``, tags of at least ``certainty``.

    An item gets at most ``tags`` tags, auto-tags included.
    """

    before: datetime
    tags: int = 3
    certainty: float = 0.65


@dataclass(frozen=True, slots=True)
class DreamBookmark:
    """Progress of a run: after an item (uid) of a tenant and a label."""

    tenant: str
    label: Label
    after: str | None

    @property
    def written(self) -> list[object]:
        """The JSON form that ``read`` takes."""
        return [self.tenant, self.label.value, self.after]

    @classmethod
    def read(cls, written: Sequence[Any]) -> DreamBookmark:
        """Return the bookmark of its JSON form."""
        tenant, label, after = written
        return cls(tenant, Label(label), after)


@dataclass(slots=True)
class DreamReport:
    """Result of a run: ``items`` processed, ``tags`` added to ``dreamt`` items; ``next`` is where to continue."""

    items: int = 0
    dreamt: int = 0
    tags: int = 0
    next: DreamBookmark | None = None


@dataclass(frozen=True, slots=True)
class Dreamer:
    """Adds auto-tags, and undoes that. ``extractor`` finds the phrases that become tags; there may be none."""

    graph: Store
    indexes: Indexes
    registry: EdgeRegistry
    queue: WorkQueue
    extractor: Extractor | None
    on_item: OnItem = field(default=lambda dreamt: None)
    progress: Progress = silent
    page: int = PAGE

    async def run(
        self,
        rules: DreamRules,
        *,
        now: datetime,
        dry: bool = False,
        start: DreamBookmark | None = None,
        max_items: int | None = None,
        seconds: float | None = None,
        tenant: str | None = None,
    ) -> DreamReport:
        """Process items from ``start`` on; ``dry``: only report. Raises what the engines raise.

        The run ends after ``max_items`` items, or after the first page completed once ``seconds`` have passed.

        ``tenant``: only its items.
        """
        done, deadline = DreamReport(), SliceDeadline(seconds)
        dry_run_degrees = Count[str]() if dry else None
        # Of all tenants together, which is no business of one alone.
        total = 0 if tenant is not None else sum([await self.graph.audit.count(label) for label in _LABELS])
        try:
            async for page_end, full_page in pages(self.graph, start, self.page, tenant):
                page = full_page if max_items is None else full_page[: max_items - done.items]
                mark = page_end if len(page) == len(full_page) else replace(page_end, after=page[-1].item.uid)
                await self._process(page, rules, done, now, dry_run_degrees)
                done.items += len(page)
                self.progress("dreaming", done.items, total)
                if deadline.passed or (max_items is not None and done.items >= max_items):
                    done.next = mark
                    break
        finally:
            if done.dreamt and not dry:
                await self.queue.wake()  # rewritten passages notify clients that keep copies of the items
        return done

    async def undo(self, step_id: str, *, now: datetime, grace: timedelta, key: str | None = None) -> int:
        """Remove what a step added; return the number of edges. Its item gets no further dream.

        ``key``: the id of the caller's key, for the record of changes. Raises MissingRecordError, with the reason, if
        the step cannot be undone.
        """
        step = await undoable(self.graph.log, step_id, DREAM, now=now, grace=grace)

        async def work(transaction: GraphTransaction) -> int:
            edges = dreamt_in(await transaction.edges([step.subject], MADE), step.id)
            await drop_dream_edges(transaction, edges, now)
            await log_undone(transaction, step, now, key=key)
            return len(edges)

        removed = await self.graph.write(step.tenant, step.context, work)
        await self.queue.wake()
        return removed

    async def _process(
        self,
        page: Sequence[ItemView],
        rules: DreamRules,
        done: DreamReport,
        now: datetime,
        dry_run_degrees: Count[str] | None,
    ) -> None:
        atoms = [atom for view in page if (atom := atom_of(view)) is not None and _is_eligible(atom, rules, now)]
        with_room = [atom for atom in atoms if len(atom.tags) + len(atom.auto_tags) < rules.tags]
        due = [atom for atom in with_room if may_be_dreamt_of(await self.graph.log.step(step_id(atom.item.uid)))]
        due.sort(key=lambda atom: atom.item.context)
        for context, group in groupby(due, key=lambda atom: atom.item.context):
            if dreams := await self._dreamt(list(group), rules, now):
                await self._add(context, dreams, rules, done, now, dry_run_degrees)

    async def _dreamt(self, atoms: Sequence[Atom], rules: DreamRules, now: datetime) -> list[DreamResult]:
        """Return the dreams of items of one context that have any tags."""
        vectors = (await self.indexes.write_index()).vectors
        alike = await SimilarityIndex(self.graph, vectors, now).of(atoms)
        embedded = [atom for atom in atoms if atom.item.uid in alike]
        tags = await AutoTagger(self.graph, self.extractor).of(embedded, alike)
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
        dry_run_degrees: Count[str] | None,
    ) -> None:
        async def work(transaction: GraphTransaction) -> AddedTags:
            return await DreamCommit(transaction, self.registry, now, rules.tags, dry_run_degrees).add(dreams)

        added = await self.graph.write(dreams[0].atom.item.tenant, context, work)
        if dry_run_degrees is not None:
            dry_run_degrees.update(edge.target for edge in added.edges)
        else:
            TAGGED.inc(len(added.edges))
        for one in map(added.of, dreams):
            if one.tags:
                self.on_item(one)
        done.dreamt += len(added.tags)
        done.tags += len(added.edges)


async def pages(
    graph: Store, start: DreamBookmark | None = None, size: int = PAGE, only: str | None = None
) -> AsyncIterator[tuple[DreamBookmark, list[ItemView]]]:
    """Yield all live items after ``start``, in pages of ``size``, each page with the position after it.

    ``only``: those of this tenant.
    """
    for tenant in [only] if only is not None else await tenants_of(graph):
        for label in _LABELS:
            if start is not None and (tenant, _LABELS.index(label)) < (start.tenant, _LABELS.index(start.label)):
                continue
            is_current = start is not None and (start.tenant, start.label) == (tenant, label)
            after = start.after if start is not None and is_current else None
            async for page in scan_pages(graph, Items(tenant, label), after=after, limit=size):
                yield DreamBookmark(tenant, label, page[-1].item.uid), page


def may_be_dreamt_of(step: MaintenanceStep | None) -> bool:
    """Return whether the item of this step may get a dream: it has none yet, or its dream was wiped."""
    return step is None or (step.outcome is Outcome.UNDONE and bool(step.details.get(WIPED)))


def _is_eligible(atom: Atom, rules: DreamRules, now: datetime) -> bool:
    return atom.item.created_at < rules.before and (atom.ends_at is None or atom.ends_at > now)
