"""Eraser: note → empty the graph → drop ledgers' edges, receipts, steps and points → seal the note → … → end.

The note is durable before anything is erased, and each erasing transaction adds to it. A kill at any moment therefore
leaves a note of the remaining work, and ``run`` continues it. Other components erase copies in files, after the note
is sealed and before the erasure ends (docs/decisions/0029).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import batched
from operator import methodcaller

from vicw_core.changes import ChangeKind, record_change
from vicw_ingest.dedup.inheritance import Inheritance
from vicw_ingest.erasure.fingerprints import FingerprintFinder, new_key
from vicw_ingest.erasure.record import (
    ALL,
    ERASED_UIDS,
    FLOWS,
    ITEMS,
    KEY,
    PARTIAL,
    PEOPLE,
    ROOTS,
    UID,
    batch_record,
    fingerprints_of,
    mentions_erased,
    merged_list,
    recorded_uids,
    redacted_step,
    sealed_note,
)
from vicw_ingest.erasure.remaining_references import drop_dangling_edges, drop_partial_contexts
from vicw_ingest.erasure.selection import ErasureSelection
from vicw_ingest.erasure.transaction import ErasureTransaction
from vicw_runtime.indexes import Indexes
from vicw_runtime.upkeep.drift import drift_task
from vicw_shared.clock import now
from vicw_shared.model import EdgeRegistry, Node
from vicw_shared.model.receipts import IMPORT_KEY
from vicw_shared.model.webhooks import Webhook
from vicw_shared.ports import (
    Direction,
    ErasurePart,
    GraphTransaction,
    MaintenanceStep,
    Outcome,
    Receipt,
    Steps,
    Store,
    scan_pages,
)
from vicw_shared.ports.sleep import FEEDBACK
from vicw_shared.uids import chunk_uid, context_uid, make_uid

_RECORDS = 500


@dataclass(slots=True)
class ErasureReport:
    """Numbers of erased ``nodes`` by label, ``receipts``, and ``steps`` of the sleep cycle's log."""

    nodes: dict[str, int] = field(default_factory=dict)
    receipts: int = 0
    steps: int = 0

    def count(self, nodes: Iterable[Node]) -> None:
        """Count erased nodes."""
        for node in nodes:
            self.nodes[node.label.value] = self.nodes.get(node.label.value, 0) + 1


@dataclass(frozen=True, slots=True)
class Eraser:
    """Erase from the graph and the vector stores. Any number may run at once on a platform."""

    graph: Store
    indexes: Indexes
    registry: EdgeRegistry
    on_progress: Callable[[int], None] = lambda erased: None
    """Receives the number of nodes erased so far."""
    item_batch: int = 25
    """Items that one transaction erases."""
    node_batch: int = 500

    async def begin(
        self, chosen: ErasureSelection, receipt_of: Callable[[str], Receipt] | None = None, *, key: str | None = None
    ) -> str:
        """Note the selection and return the erasure's uid. Nothing is erased yet.

        ``receipt_of`` returns a receipt for the uid, which is stored with the note. ``key``: the id of the caller's
        key, for the record of changes.
        """
        roots = [context_uid(chosen.tenant, name) for name in chosen.contexts]
        items = {context_uid(chosen.tenant, name): uids for name, uids in chosen.items.items()}
        people: dict[str, list[str]] = {context_uid(p.tenant, p.context): [] for p in chosen.people}
        erasure = make_uid(chosen.tenant, "erasure", f"{now().timestamp()}", json.dumps([roots, items, chosen.partial]))
        body: dict[str, object] = {
            ITEMS: {**people, **items},
            ROOTS: roots,
            ALL: chosen.everything,
            PARTIAL: list(chosen.partial),
            PEOPLE: [person.uid for person in chosen.people],
            KEY: f"{new_key():x}",
        }
        note = ErasurePart(erasure, 0, chosen.tenant, body)

        async def work(transaction: GraphTransaction) -> None:
            await transaction.record_erasure(note)
            await record_change(transaction, chosen.tenant, ChangeKind.ERASE, chosen.count, key=key, at=now())
            if receipt_of is not None:
                await transaction.put_receipt(receipt_of(erasure))

        await self._write(chosen.tenant, work)
        return erasure

    async def pending(self) -> dict[str, str]:
        """Return the unfinished erasures, each with its tenant."""
        return {note.erasure: note.tenant for note in await self.graph.erasures.erasures()}

    async def run(self, erasure: str) -> ErasureReport:
        """Do the remaining noted work and seal the note, which then holds only hashes.

        Raises the engines' errors; a new run continues.
        """
        done = ErasureReport()
        notes = [note for note in await self.graph.erasures.erasures() if note.erasure == erasure]
        if not notes:
            return done  # another process has finished it
        first = notes[0]
        if ITEMS in first.body:
            await self._empty(first, done)
            notes = [note for note in await self.graph.erasures.erasures() if note.erasure == erasure]
        erased = merged_list(notes, ERASED_UIDS)
        if erased:
            await drop_dangling_edges(self.graph, first.tenant, erased - await self._stored_again(first.tenant, erased))
            await self._drop_points(first.tenant, erased)
            await self._drop_receipts(first.tenant, erased, done)
            finder = FingerprintFinder(await fingerprints_of(self.graph.erasures, erasure))
            flows = merged_list(notes, FLOWS)
            await self._drop_steps(first.tenant, erased, flows, done, lambda text: bool(finder.find(text.encode())))
        await self._clear_webhooks(first)
        if first.body.get(ALL):
            await self.graph.log.drop_job_run(drift_task(first.tenant))
        if await self._is_pending(erasure):
            await self._seal(notes)
        await self.graph.erasures.count_erasure()
        return done

    async def finish_interrupted(self) -> None:
        """Finish the erasing that a kill interrupted, so that nothing of it is answered again.

        The proof is left to ``vicw forget resume``. Raises the engines' errors; a new run continues.
        """
        notes = await self.graph.erasures.erasures()
        for erasure in sorted({one.erasure for one in notes if {ITEMS, ERASED_UIDS} & one.body.keys()}):
            await self.run(erasure)

    async def _clear_webhooks(self, first: ErasurePart) -> None:
        """Drop the messages that wait, which may name what was erased, or the hooks of a whole tenant.

        Each hook is written in any case: what a sender has read of it and of the events until now is out of date then.
        """
        for listed in await self.graph.webhooks.of_tenant(first.tenant):
            hook: Webhook | None = listed
            if first.body.get(ALL):
                await self.graph.webhooks.remove(first.tenant, listed.id)
                continue
            while hook is not None and not await self.graph.webhooks.put(hook.without_messages()):
                hook = await self.graph.webhooks.webhook(listed.id)

    async def _is_pending(self, erasure: str) -> bool:
        """Return whether an erasure is unfinished. Nodes that exist after its end were stored since."""
        return any(note.erasure == erasure for note in await self.graph.erasures.erasures())

    async def sweep(self, tenant: str, nodes: Iterable[Node]) -> None:
        """Remove the points, receipts and log steps of erased nodes. This needs no erasure proof."""
        erased = {node.uid for node in nodes}
        if not erased:
            return
        done = ErasureReport()
        await self._drop_points(tenant, erased)
        await self._drop_receipts(tenant, erased, done)
        await self._drop_steps(tenant, erased, set(), done)
        await self.graph.erasures.count_erasure()

    async def _empty(self, first: ErasurePart, done: ErasureReport) -> None:
        """Remove the noted selection from the graph in batches, each with a note of its own."""
        key = int(str(first.body[KEY]), 16)
        roots = {root.uid: root for root in await self.graph.contexts(first.tenant)}
        items = first.body[ITEMS]
        assert isinstance(items, dict)
        people = [str(uid) for uid in recorded_uids(first.body[PEOPLE])]
        for root in (roots[uid] for uid in items if uid in roots):
            remaining = await self._remaining(root.tenant, items[root.uid])
            people_left = await self.graph.nodes(root.tenant, people)
            for batch in batched(remaining, self.item_batch) if remaining else [()] * bool(people_left):
                done.count(await self._erase(root, batch, people, first, key))
                self.on_progress(sum(done.nodes.values()))
        root_uids = first.body[ROOTS]
        chosen = (
            roots.values() if first.body[ALL] else [roots[u] for u in map(str, recorded_uids(root_uids)) if u in roots]
        )
        for root in chosen:
            async for erased in self._erase_context(root, first, key):
                done.count(erased)
                self.on_progress(sum(done.nodes.values()))
        parts = [*map(str, recorded_uids(first.body.get(PARTIAL)))]
        is_pending = partial(self._is_pending, first.erasure)
        drop = partial(self._drop_members, first=first, key=key)
        async for erased in drop_partial_contexts(self.graph, first.tenant, parts, drop, is_pending):
            done.count(erased)
            self.on_progress(sum(done.nodes.values()))
        sealed = replace(first, body={KEY: first.body[KEY], ALL: first.body[ALL]})
        if await self._is_pending(first.erasure):
            await self._write(first.tenant, methodcaller("record_erasure", sealed))

    async def _remaining(self, tenant: str, uids: Sequence[str]) -> list[str]:
        """Return the items that still exist, including consolidated ones."""
        remaining: list[str] = []
        for batch in batched(uids, _RECORDS):
            stored = await self.graph.nodes(tenant, [*batch, *(chunk_uid(uid, 0) for uid in batch)])
            remaining += [uid for uid in batch if not stored.keys().isdisjoint((uid, chunk_uid(uid, 0)))]
        return remaining

    async def _erase(
        self, root: Node, uids: Sequence[str], people: Sequence[str], first: ErasurePart, key: int
    ) -> list[Node]:
        async def work(transaction: GraphTransaction) -> list[Node]:
            erasing = ErasureTransaction(transaction, self.registry, now(), root.tenant, root.context)
            erased = [*await erasing.erase(uids), *await erasing.drop_orphans(people)]
            if erased:
                await transaction.record_erasure(batch_record(first, erased, key))
            return erased

        return await self.graph.write(root.tenant, root.context, work)

    async def _erase_context(self, root: Node, first: ErasurePart, key: int) -> AsyncIterator[Sequence[Node]]:
        """Remove a whole context. Duplicates in other contexts take over the texts that they repeat."""
        while await self._is_pending(first.erasure) and (members := await self._members(root)):
            for batch in batched(members, self.node_batch):
                yield await self._drop_members(root.context, batch, first, key)

        if not await self._is_pending(first.erasure):
            return

        async def last(transaction: GraphTransaction) -> None:
            await transaction.drop_nodes([root.uid])
            await transaction.drop_counters([], arrivals=True)
            await transaction.record_erasure(batch_record(first, [root], key))

        await self.graph.write(root.tenant, root.context, last)
        yield [root]

    async def _drop_members(self, context: str, uids: Sequence[str], first: ErasurePart, key: int) -> list[Node]:
        async def work(transaction: GraphTransaction) -> list[Node]:
            erased = list((await transaction.nodes(uids)).values())
            await self._hand_over_texts(transaction, context, erased)
            await transaction.drop_counters(sorted({n.flow_id for n in erased if n.flow_id is not None}))
            await transaction.drop_nodes([node.uid for node in erased])
            if erased:
                await transaction.record_erasure(batch_record(first, erased, key))
            return erased

        return await self.graph.write(first.tenant, context, work)

    async def _members(self, root: Node) -> list[str]:
        async with self.graph.archive.snapshot() as snapshot:
            return [uid for uid in await snapshot.members(root) if uid != root.uid]

    async def _hand_over_texts(self, transaction: GraphTransaction, context: str, erased: Sequence[Node]) -> None:
        items = [node for node in erased if node.content_hash is not None]
        copies = await transaction.edges([item.uid for item in items], ["DERIVED_FROM"], Direction.IN) if items else []
        heirs = await transaction.nodes([edge.source for edge in copies])
        others = [e for e in copies if e.source in heirs and heirs[e.source].context != context]
        await Inheritance(transaction, self.registry, now()).apply(items, others)

    async def _stored_again(self, tenant: str, erased: Iterable[str]) -> set[str]:
        """Return the uids that were stored again after the erasure."""
        return {uid for batch in batched(sorted(erased), _RECORDS) for uid in await self.graph.nodes(tenant, batch)}

    async def _drop_points(self, tenant: str, erased: set[str]) -> None:
        """Remove points, except those of nodes that were stored again under the same uid."""
        for batch in batched(sorted(erased), _RECORDS):
            to_delete = sorted({*batch} - await self._stored_again(tenant, batch))
            await (await self.indexes.write_index()).vectors.delete(to_delete)

    async def _drop_receipts(self, tenant: str, erased: set[str], done: ErasureReport) -> None:
        """Remove receipts that name erased nodes: a replay would disclose them, and block storing them anew.

        The records of imports name files and quote what was refused, so they all go; a running import writes its anew.
        """
        after: Receipt | None = None
        keys: list[str] = []
        async with self.graph.archive.snapshot() as snapshot:
            while page := await snapshot.receipts(tenant, after=after, limit=_RECORDS):
                after = page[-1]
                keys += [
                    one.key
                    for one in page
                    if one.key.startswith(IMPORT_KEY) or not erased.isdisjoint(UID.findall(json.dumps(one.body)))
                ]
        for batch in batched(keys, _RECORDS):
            await self._write(tenant, methodcaller("drop_receipts", batch))
        done.receipts += len(keys)

    async def _drop_steps(
        self,
        tenant: str,
        erased: set[str],
        flows: set[str],
        done: ErasureReport,
        names_erased: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """Remove log steps that mention erased nodes.

        A step names a Macro-Event by its first words. If the Macro-Event no longer exists, only the flow identifies the
        step's subject, so all such steps of a flow with erased items are removed, as is a dream's step that names an
        erased tag or item: that item may be dreamt again. A step that a person has undone stays, without these, and so
        does an item's feedback, without what erased people gave and the questions that name something erased.
        """
        ids: list[str] = []
        async for page in scan_pages(self.graph, Steps(tenant=tenant, with_feedback=True)):
            existing = await self.graph.nodes(tenant, [step.subject for step in page])
            for step in page:
                short = redacted_step(step, erased, names_erased)
                lasting = step.task == FEEDBACK or (step.outcome is Outcome.UNDONE and step.subject in existing)
                if mentions_erased(short if lasting else step, erased, flows, existing) or (
                    short != step and not lasting
                ):
                    ids.append(step.id)
                elif short != step:
                    done.steps += await self._shorten(step, erased, names_erased)
        for batch in batched(ids, _RECORDS):
            await self._write(tenant, methodcaller("drop_steps", batch))
        done.steps += len(ids)

    async def _shorten(self, step: MaintenanceStep, erased: set[str], names_erased: Callable[[str], bool]) -> int:
        """Remove from a step that stays what ``redacted_step`` does. Return 1 if it had any, else 0."""

        async def work(transaction: GraphTransaction) -> int:
            stored = await self.graph.log.step(step.id)  # another dream may have changed it since
            if stored is None or (short := redacted_step(stored, erased, names_erased)) == stored:
                return 0
            await transaction.log_step(short)
            return 1

        return await self.graph.write(step.tenant, step.context, work)

    async def _seal(self, notes: Sequence[ErasurePart]) -> None:
        for note in notes:
            if ERASED_UIDS not in note.body:
                continue
            await self._write(note.tenant, methodcaller("record_erasure", sealed_note(note)))

    async def _write(self, tenant: str, work: Callable[[GraphTransaction], Awaitable[None]]) -> None:
        """Write data that belongs to no context."""
        await self.graph.write(tenant, "", work)
