"""The use case: compare the names of each context → find similar ones → merge the same entities → log each merge's
step.

A merge is one edge, like a person's, and marked as a guess (``vicw_core.graph.canonical.is_inferred``). A pair below
the threshold, or with evidence against it, is left: ``vicw entities candidates`` proposes it. Any number of instances
may run, and any may die: merges of a tenant are serialised, and each is judged by the transaction that makes it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from prometheus_client import Counter

from vicw_core.graph.canonical import MERGED_INTO, is_inferred
from vicw_core.graph.edge_factory import RESOLVE
from vicw_core.identity.merge import LOCK, MergeDecision
from vicw_core.identity.pairs import Place, SimilarPair, pairs_among, read_names
from vicw_core.undo import undoable
from vicw_shared.model import Edge, EdgeRegistry, Label, Node
from vicw_shared.ports import Direction, GraphTransaction, Nodes, Outcome, Store, scan_pages
from vicw_shared.progress import Progress, silent
from vicw_sleep.resolve.match_rules import may_be_one
from vicw_sleep.resolve.merge_decision import DecidedPair, MergeDecider, MergeOutcome, split_merge, step_id
from vicw_sleep.schedule.scheduler import SliceDeadline

_PAGE = 100
MERGED = Counter("vicw_resolve_merged_total", "Entities merged into others by similarity")
LEFT = Counter("vicw_resolve_left_total", "Pairs of similar names that were compared and left to a person")
SPLIT = Counter("vicw_resolve_split_total", "Entities split again, since evidence against the merge appeared")

type OnPair = Callable[[DecidedPair], None]
"""Called for each pair that was judged, and for each that was split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRules:
    """Conditions of a merge: names of similarity ``threshold`` or more, and ``shared`` entities named with both.

    At most ``names`` of a context are compared with each other at a time.
    """

    threshold: float = 0.95
    shared: int = 2
    names: int = 10_000


@dataclass(frozen=True, slots=True)
class ResolveBookmark:
    """Progress of a run: all contexts up to ``done`` (uid) are complete.

    Of the next one, ``context``, the names up to ``behind`` are; of the names that follow, the pairs up to ``judged``.
    """

    done: str | None = None
    context: str | None = None
    behind: Place | None = None
    judged: tuple[float, str, str] | None = None

    @property
    def written(self) -> list[object]:
        """The JSON form that ``read`` takes."""
        return list(astuple(self))

    @classmethod
    def read(cls, written: Sequence[Any]) -> ResolveBookmark:
        """Return the bookmark of its JSON form, which has no tuples."""
        fields: list[Any] = [tuple(field) if isinstance(field, list) else field for field in written]
        return cls(*fields)


@dataclass(slots=True)
class ResolveReport:
    """Result of a run: ``names`` compared, of the likely pairs ``merged`` and ``left``; ``next`` is where to continue.

    ``split`` pairs were merged before, and evidence against them has appeared.
    """

    names: int = 0
    merged: int = 0
    left: int = 0
    split: int = 0
    next: ResolveBookmark | None = None

    @property
    def pairs(self) -> int:
        """Number of pairs judged."""
        return self.merged + self.left


@dataclass(frozen=True, slots=True)
class EntityResolver:
    """Merges duplicate entities, and undoes a merge."""

    graph: Store
    registry: EdgeRegistry
    on_pair: OnPair = field(default=lambda decided: None)
    progress: Progress = silent

    async def run(
        self,
        rules: ResolveRules,
        *,
        now: datetime,
        dry: bool = False,
        start: ResolveBookmark | None = None,
        max_pairs: int | None = None,
        names: int | None = None,
        seconds: float | None = None,
        tenant: str | None = None,
    ) -> ResolveReport:
        """Process contexts from ``start`` on; ``dry``: only report. Raises what the engine raises.

        The run ends after a pair once ``max_pairs`` pairs are judged, ``names`` compared or ``seconds`` passed; without
        these, when it is complete. ``tenant``: only its contexts.
        """
        done, deadline = ResolveReport(), SliceDeadline(seconds)

        def is_enough() -> bool:
            return deadline.passed or (max_pairs is not None and done.pairs >= max_pairs)

        async for root, mark in self._contexts(start, tenant):
            bookmark: ResolveBookmark | None = mark
            while bookmark is not None:
                bookmark = await self._compare(root, bookmark, rules, done, now=now, dry=dry, is_enough=is_enough)
                self.progress("comparing", done.names, 0)
                if is_enough() or (names is not None and done.names >= names):
                    done.next = bookmark or ResolveBookmark(done=root.uid)
                    return done
        return done

    async def undo(self, step_id: str, *, now: datetime, grace: timedelta, key: str | None = None) -> bool:
        """Split what a step merged; return False if a person has decided on it since. The pair is not merged again.

        ``key``: the id of the caller's key, for the record of changes. Raises MissingRecordError, with the reason, if
        the step cannot be undone.
        """
        step = await undoable(self.graph.log, step_id, RESOLVE, now=now, grace=grace)

        async def work(transaction: GraphTransaction) -> bool:
            return await split_merge(transaction, step, MergeDecision(step.tenant, now, self.registry), key=key)

        return await self.graph.write(step.tenant, LOCK, work)

    async def _contexts(
        self, start: ResolveBookmark | None, tenant: str | None
    ) -> AsyncIterator[tuple[Node, ResolveBookmark]]:
        """Yield the roots of contexts, of all tenants or one, each with its start."""
        after = start.done if start is not None else None
        async for page in scan_pages(self.graph, Nodes(Label.CONTEXT), after=after, limit=_PAGE):
            for root in page:
                if tenant not in {None, root.tenant}:
                    continue
                is_current = start is not None and start.context == root.uid
                yield root, start if start is not None and is_current else ResolveBookmark(after, root.uid)
                after = root.uid

    async def _compare(
        self,
        root: Node,
        at: ResolveBookmark,
        rules: ResolveRules,
        done: ResolveReport,
        *,
        now: datetime,
        dry: bool,
        is_enough: Callable[[], bool],
    ) -> ResolveBookmark | None:
        """Judge the pairs among the next names of a context; return where to continue, None if the context is
        complete.
        """
        tenant, context = root.tenant, root.name
        names = await read_names(self.graph, tenant, context, after=at.behind, limit=rules.names)
        if at.judged is None:
            done.names += len(names.nodes)
            await self._reconsider(tenant, names.nodes, done, now=now, dry=dry)
        pairs = await pairs_among(
            self.graph, tenant, names.nodes, None
        )  # no candidates by spelling: these are never merged
        likely = [pair for pair in pairs if pair.score >= rules.threshold and may_be_one(pair, context)]
        remaining = [pair for pair in sorted(likely, key=_place) if at.judged is None or _place(pair) > at.judged]
        judged = at.judged
        for pair in remaining:
            if judged != at.judged and is_enough():
                return replace(at, judged=judged)
            await self._judge(pair, rules, done, now=now, dry=dry)
            judged = _place(pair)
        return None if names.complete else replace(at, behind=names.last, judged=None)

    async def _reconsider(
        self, tenant: str, entities: Sequence[Node], done: ResolveReport, *, now: datetime, dry: bool
    ) -> None:
        """Reconsider merges by similarity: there may be evidence against them now."""
        outgoing = [(MERGED_INTO, Direction.OUT)]
        merges = await self.graph.expand(tenant, [node.uid for node in entities], outgoing, 1) if entities else []
        for guess in (one.edge for one in merges if is_inferred(one.edge)):

            async def work(transaction: GraphTransaction, guess: Edge = guess) -> DecidedPair | None:
                return await MergeDecider(transaction, self.registry, now, 0).reconsider(guess, dry=dry)

            if (decided := await self.graph.write(tenant, LOCK, work)) is not None:
                self.on_pair(decided)
                done.split += 1
                SPLIT.inc(not dry)

    async def _judge(
        self, pair: SimilarPair, rules: ResolveRules, done: ResolveReport, *, now: datetime, dry: bool
    ) -> None:
        async def work(transaction: GraphTransaction) -> DecidedPair:
            return await MergeDecider(transaction, self.registry, now, rules.shared).decide(pair, dry=dry)

        step = await self.graph.log.step(step_id(pair.entities))
        if step is not None and step.outcome is Outcome.UNDONE:
            decided = DecidedPair(MergeOutcome.LEAVE, pair.entities, "a merge of the two was undone")
        else:
            decided = await self.graph.write(pair.entities[0].tenant, LOCK, work)
        self.on_pair(replace(decided, reason=f"{pair.score:.2f} {pair.reason}: {decided.reason}"))
        is_merged = decided.outcome is MergeOutcome.MERGE
        done.merged += is_merged
        done.left += not is_merged
        if not dry:
            (MERGED if is_merged else LEFT).inc()


def _place(pair: SimilarPair) -> tuple[float, str, str]:
    """Return a pair's sort key in its context: the most similar come first."""
    first, second = sorted(node.uid for node in pair.entities)
    return -pair.score, first, second
