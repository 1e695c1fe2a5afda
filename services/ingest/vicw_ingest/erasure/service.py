"""The use case: note → empty the graph → drop ledgers' edges, receipts, steps and points → seal the note → … → end.

The note is durable before anything goes, and is added to by the transaction that removes something. So a kill at any
moment leaves a note that says what is still to do, and ``run`` goes on with it. What lies in files is others' work: it
comes once the note is sealed, and before it ends (docs/decisions/0029).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched
from operator import methodcaller

from vicw_ingest.dedup.inheritance import Inheritance
from vicw_ingest.erasure.ledger_refs import drop_dangling_edges
from vicw_ingest.erasure.partial_contexts import drop_scattered
from vicw_ingest.erasure.record import (
    ALL,
    FLOWS,
    GONE,
    ITEMS,
    KEY,
    PEOPLE,
    ROOTS,
    SCATTERED,
    UID,
    batch_record,
    mentions_erased,
    merged_list,
    recorded_uids,
    redacted_step,
    sealed,
)
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_ingest.erasure.transaction import ErasureTransaction
from vicw_shared.clock import now
from vicw_shared.fingerprints import new_key
from vicw_shared.indexes import Indexes
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.ports import (
    Direction,
    ErasureNote,
    GraphTransaction,
    MaintenanceStep,
    Outcome,
    Receipt,
    Steps,
    Store,
    scan_pages,
)
from vicw_shared.uids import chunk_uid, context_uid, make_uid

_ITEMS = 25
"""Items that one transaction erases."""
_NODES = 500
_RECORDS = 500


@dataclass(slots=True)
class ErasureReport:
    """What went: ``nodes`` of each label, ``receipts``, and ``steps`` of the sleep cycle's log."""

    nodes: dict[str, int] = field(default_factory=dict)
    receipts: int = 0
    steps: int = 0

    def count(self, nodes: Iterable[Node]) -> None:
        """Take in nodes that went."""
        for node in nodes:
            self.nodes[node.label.value] = self.nodes.get(node.label.value, 0) + 1


@dataclass(frozen=True, slots=True)
class Eraser:
    """Erases in the graph and in the vector stores. Any number of these may be at work on a platform."""

    graph: Store
    indexes: Indexes
    registry: EdgeRegistry
    on_progress: Callable[[int], None] = lambda erased: None
    """Hears how many items or nodes have gone so far."""

    async def begin(self, chosen: ErasureSelection) -> str:
        """Note what is to go; return the erasure's uid. Nothing has gone yet."""
        roots = [context_uid(chosen.tenant, name) for name in chosen.contexts]
        items = {context_uid(chosen.tenant, name): uids for name, uids in chosen.items.items()}
        people: dict[str, list[str]] = {context_uid(p.tenant, p.context): [] for p in chosen.people}
        erasure = make_uid(chosen.tenant, "erasure", f"{now().timestamp()}", json.dumps([roots, items, chosen.partial]))
        body: dict[str, object] = {
            ITEMS: {**people, **items},
            ROOTS: roots,
            ALL: chosen.everything,
            SCATTERED: list(chosen.partial),
            PEOPLE: [person.uid for person in chosen.people],
            KEY: f"{new_key():x}",
        }
        note = ErasureNote(erasure, 0, chosen.tenant, body)
        await self._write(chosen.tenant, methodcaller("record_erasure", note))
        return erasure

    async def pending(self) -> dict[str, str]:
        """Return the erasures that have not come to their end, each with its tenant."""
        return {note.erasure: note.tenant for note in await self.graph.erasures.erasures()}

    async def run(self, erasure: str) -> ErasureReport:
        """Do what is noted, as far as it is not done, and seal the note: then it holds hashes alone.

        Raises what the engines raise; run again, it goes on.
        """
        done = ErasureReport()
        notes = [note for note in await self.graph.erasures.erasures() if note.erasure == erasure]
        if not notes:
            return done  # another has come to its end meanwhile
        first = notes[0]
        if ITEMS in first.body:
            await self._empty(first, done)
            notes = [note for note in await self.graph.erasures.erasures() if note.erasure == erasure]
        gone = merged_list(notes, GONE)
        if gone:
            await drop_dangling_edges(self.graph, first.tenant, gone - await self._ingested_again(first.tenant, gone))
            await self._drop_points(first.tenant, gone)
            await self._drop_receipts(first.tenant, gone, done)
            await self._drop_steps(first.tenant, gone, merged_list(notes, FLOWS), done)
        if await self._is_pending(erasure):
            await self._seal(notes)
        await self.graph.erasures.count_erasure()
        return done

    async def _is_pending(self, erasure: str) -> bool:
        """Tell whether nobody has come to the end of an erasure: what is told from then on is new."""
        return any(note.erasure == erasure for note in await self.graph.erasures.erasures())

    async def sweep(self, tenant: str, nodes: Iterable[Node]) -> None:
        """Remove what is left of nodes that are gone: points, kept answers, steps. Nobody has to prove it."""
        gone = {node.uid for node in nodes}
        if not gone:
            return
        done = ErasureReport()
        await self._drop_points(tenant, gone)
        await self._drop_receipts(tenant, gone, done)
        await self._drop_steps(tenant, gone, set(), done)
        await self.graph.erasures.count_erasure()

    async def _empty(self, first: ErasureNote, done: ErasureReport) -> None:
        """Remove from the graph what is noted, batch by batch, each with its note."""
        key = int(str(first.body[KEY]), 16)
        roots = {root.uid: root for root in await self.graph.contexts(first.tenant)}
        items = first.body[ITEMS]
        assert isinstance(items, dict)
        people = [str(uid) for uid in recorded_uids(first.body[PEOPLE])]
        for root in (roots[uid] for uid in items if uid in roots):
            left = await self._left(root.tenant, items[root.uid])
            there = await self.graph.nodes(root.tenant, people)
            for batch in batched(left, _ITEMS) if left else [()] * bool(there):
                done.count(await self._erase(root, batch, people, first, key))
                self.on_progress(sum(done.nodes.values()))
        wanted = first.body[ROOTS]
        chosen = (
            roots.values() if first.body[ALL] else [roots[u] for u in map(str, recorded_uids(wanted)) if u in roots]
        )
        for root in chosen:
            async for went in self._erase_context(root, first, key):
                done.count(went)
                self.on_progress(sum(done.nodes.values()))
        parts, stands = [*map(str, recorded_uids(first.body.get(SCATTERED)))], partial(self._is_pending, first.erasure)
        drop = partial(self._drop_members, first=first, key=key)
        async for went in drop_scattered(self.graph, first.tenant, parts, drop, stands):
            done.count(went)
            self.on_progress(sum(done.nodes.values()))
        sealed = replace(first, body={KEY: first.body[KEY], ALL: first.body[ALL]})
        if await self._is_pending(first.erasure):
            await self._write(first.tenant, methodcaller("record_erasure", sealed))

    async def _left(self, tenant: str, uids: Sequence[str]) -> list[str]:
        """Return those of these items that are still there, be they consolidated."""
        left: list[str] = []
        for batch in batched(uids, _RECORDS):
            there = await self.graph.nodes(tenant, [*batch, *(chunk_uid(uid, 0) for uid in batch)])
            left += [uid for uid in batch if not there.keys().isdisjoint((uid, chunk_uid(uid, 0)))]
        return left

    async def _erase(
        self, root: Node, uids: Sequence[str], people: Sequence[str], first: ErasureNote, key: int
    ) -> list[Node]:
        async def work(transaction: GraphTransaction) -> list[Node]:
            erasing = ErasureTransaction(transaction, self.registry, now(), root.tenant, root.context)
            gone = [*await erasing.erase(uids), *await erasing.drop_things(people)]
            if gone:
                await transaction.record_erasure(batch_record(first, gone, key))
            return gone

        return await self.graph.write(root.tenant, root.context, work)

    async def _erase_context(self, root: Node, first: ErasureNote, key: int) -> AsyncIterator[Sequence[Node]]:
        """Remove all of a context; what repeats it elsewhere has the text itself from then on."""
        while await self._is_pending(first.erasure) and (members := await self._members(root)):
            for batch in batched(members, _NODES):
                yield await self._drop_members(root.context, batch, first, key)

        if not await self._is_pending(first.erasure):
            return

        async def last(transaction: GraphTransaction) -> None:
            await transaction.drop_nodes([root.uid])
            await transaction.drop_counters([], arrivals=True)
            await transaction.record_erasure(batch_record(first, [root], key))

        await self.graph.write(root.tenant, root.context, last)
        yield [root]

    async def _drop_members(self, context: str, uids: Sequence[str], first: ErasureNote, key: int) -> list[Node]:
        async def work(transaction: GraphTransaction) -> list[Node]:
            gone = list((await transaction.nodes(uids)).values())
            await self._hand_over_texts(transaction, context, gone)
            await transaction.drop_counters(sorted({n.flow_id for n in gone if n.flow_id is not None}))
            await transaction.drop_nodes([node.uid for node in gone])
            if gone:
                await transaction.record_erasure(batch_record(first, gone, key))
            return gone

        return await self.graph.write(first.tenant, context, work)

    async def _members(self, root: Node) -> list[str]:
        async with self.graph.archive.snapshot() as snapshot:
            return [uid for uid in await snapshot.members(root) if uid != root.uid]

    async def _hand_over_texts(self, transaction: GraphTransaction, context: str, gone: Sequence[Node]) -> None:
        items = [node for node in gone if node.content_hash is not None]
        copies = await transaction.edges([item.uid for item in items], ["DERIVED_FROM"], Direction.IN) if items else []
        heirs = await transaction.nodes([edge.source for edge in copies])
        others = [e for e in copies if e.source in heirs and heirs[e.source].context != context]
        await Inheritance(transaction, self.registry, now()).apply(items, others)

    async def _ingested_again(self, tenant: str, gone: Iterable[str]) -> set[str]:
        """Return what has come again since under the same uid."""
        return {uid for batch in batched(sorted(gone), _RECORDS) for uid in await self.graph.nodes(tenant, batch)}

    async def _drop_points(self, tenant: str, gone: set[str]) -> None:
        """Remove points, but of what has come again since under the same uid."""
        for batch in batched(sorted(gone), _RECORDS):
            going = sorted({*batch} - await self._ingested_again(tenant, batch))
            await (await self.indexes.writing()).vectors.delete(going)

    async def _drop_receipts(self, tenant: str, gone: set[str], done: ErasureReport) -> None:
        """Remove answers that name what went: given again, they would tell of it, and keep it from coming anew."""
        after: Receipt | None = None
        keys: list[str] = []
        async with self.graph.archive.snapshot() as snapshot:
            while page := await snapshot.receipts(tenant, after=after, limit=_RECORDS):
                after = page[-1]
                keys += [one.key for one in page if not gone.isdisjoint(UID.findall(json.dumps(one.body)))]
        for batch in batched(keys, _RECORDS):
            await self._write(tenant, methodcaller("drop_receipts", batch))
        done.receipts += len(keys)

    async def _drop_steps(self, tenant: str, gone: set[str], flows: set[str], done: ErasureReport) -> None:
        """Remove what the log tells of what went.

        A step names a Macro-Event by its first words; one whose Macro-Event is not there says nothing of whom it was
        about but the flow: so all such steps of a flow go in which something was erased. One that says which tags an
        item was given, and one of these went, goes as well, and the item is dreamt of anew; but not what a person has
        undone: that stays undone, and says what else was given alone.
        """
        ids: list[str] = []
        async for page in scan_pages(self.graph, Steps(tenant=tenant)):
            there = await self.graph.nodes(tenant, [step.subject for step in page])
            for step in page:
                short = redacted_step(step, gone)
                undone = step.outcome is Outcome.UNDONE and step.subject in there
                if mentions_erased(short if undone else step, gone, flows, there) or (short != step and not undone):
                    ids.append(step.id)
                elif short != step:
                    done.steps += await self._shorten(step, gone)
        for batch in batched(ids, _RECORDS):
            await self._write(tenant, methodcaller("drop_steps", batch))
        done.steps += len(ids)

    async def _shorten(self, step: MaintenanceStep, gone: set[str]) -> int:
        """Take what went out of an undone step; return whether it had anything, as a number."""

        async def work(transaction: GraphTransaction) -> int:
            noted = await self.graph.log.step(step.id)  # another dream may have been here since
            if noted is None or (short := redacted_step(noted, gone)) == noted:
                return 0
            await transaction.log_step(short)
            return 1

        return await self.graph.write(step.tenant, step.context, work)

    async def _seal(self, notes: Sequence[ErasureNote]) -> None:
        for note in notes:
            if GONE not in note.body:
                continue
            await self._write(note.tenant, methodcaller("record_erasure", sealed(note)))

    async def _write(self, tenant: str, work: Callable[[GraphTransaction], Awaitable[None]]) -> None:
        """Write what is of no context."""
        await self.graph.write(tenant, "", work)
