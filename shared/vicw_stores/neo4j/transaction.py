"""Write transaction on Neo4j: one managed transaction that holds the context's lock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import batched, groupby
from operator import attrgetter
from typing import Any

from neo4j import Record

from vicw_shared.clock import from_us, to_us
from vicw_shared.errors import MissingRecordError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.chain import ChainKey
from vicw_shared.model.edges import IN_PAYLOAD, WEAK_TYPES
from vicw_shared.model.names import MAX_NAMESAKES, UNCOUNTED
from vicw_shared.ports import Counters, Direction, ErasurePart, Gap, MaintenanceStep, NameMatch, NameQuery, Receipt, Use
from vicw_shared.telemetry.engines import measured
from vicw_stores.neo4j.cypher import edges as of_edges
from vicw_stores.neo4j.cypher import names as of_names
from vicw_stores.neo4j.cypher import nodes as of_nodes
from vicw_stores.neo4j.cypher import outbox, records, text
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.erasure import put_erasure_record
from vicw_stores.neo4j.keys import (
    EdgeTypes,
    arrivals_record,
    chain_end,
    chain_prefix,
    item_key,
    numbers_of,
    place,
    receipt_record,
    step_record,
    steps_record,
    tenant_key,
    use_record,
)
from vicw_stores.neo4j.names import find_names, put_terms
from vicw_stores.neo4j.pending_extractions import dequeue_extraction, queue_extractions
from vicw_stores.neo4j.rows import by_uid, edge_of, edge_row, gathered, node_row, nodes_in
from vicw_stores.neo4j.steps import put_step
from vicw_stores.neo4j.term_counts import drop_terms

_BATCH = 2000
_label = attrgetter("label")
_type = attrgetter("type")


@measured("neo4j", inside="write")
class Neo4jTransaction:
    """GraphTransaction over one attempt of a managed transaction."""

    def __init__(self, run: RunStatement, tenant: str, context: str, types: EdgeTypes) -> None:
        self._run = run
        self._tenant = tenant
        self._context = context
        self._types = types
        self._keys: dict[str, str] = {}  # element ids of nodes that this transaction has put or looked up

    async def lock(self) -> None:
        """Acquire the context's lock, waiting for other transactions on the context. Must run first."""
        await self._run(records.LOCK, record=arrivals_record(self._tenant, self._context))

    async def receipt(self, key: str) -> Receipt | None:
        return receipt_of(key, await self._run(records.RECEIPT, record=receipt_record(self._tenant, key)))

    async def put_receipt(self, receipt: Receipt) -> None:
        await self._run(
            records.PUT_RECEIPT,
            record=receipt_record(self._tenant, receipt.key),
            tenant_key=tenant_key(self._tenant),
            key=receipt.key,
            created_at=to_us(receipt.created_at),
            fingerprint=receipt.fingerprint,
            body=json.dumps(receipt.body, ensure_ascii=False),
        )

    async def forget_receipts(self, before: datetime, *, limit: int) -> None:
        await self._run(records.FORGET_RECEIPTS, tenant_key=tenant_key(self._tenant), before=to_us(before), limit=limit)

    async def nodes(self, uids: Sequence[str]) -> dict[str, Node]:
        return by_uid(gathered(await self._run(of_nodes.FIND, uids=list(uids), tenant=self._tenant)) if uids else [])

    async def items(self, source_ids: Sequence[str]) -> dict[str, Node]:
        keys = [item_key(self._tenant, self._context, source_id) for source_id in source_ids]
        latest = by_uid(await self._run(of_nodes.LATEST, keys=keys) if keys else [])
        return {node.source_id or "": node for node in latest.values()}

    async def edges(self, uids: Sequence[str], types: Sequence[str], direction: Direction | None = None) -> list[Edge]:
        stored = self._types.stored(types)
        if not uids or not stored:
            return []
        rows = await self._run(of_edges.touching(stored, direction), uids=list(uids), tenant=self._tenant)
        return list({row["edge"]["id"]: edge_of(row["edge"]) for row in rows}.values())

    async def named(self, names: Sequence[str], *, limit: int = MAX_NAMESAKES) -> dict[str, list[Node]]:
        matches: dict[str, list[Node]] = {}
        for batch in batched(dict.fromkeys(names), _BATCH):
            query = NameQuery(NameMatch.NAME, batch, limit)
            matches |= (await find_names(self._run, self._tenant, [query], [self._context]))[0]
        return matches

    async def degrees(self, uids: Sequence[str]) -> dict[str, int]:
        types = tuple(name for name in self._types.all if name not in UNCOUNTED)
        rows = await self._run(of_names.degrees(types), uids=list(uids), tenant=self._tenant) if uids else []
        return {row["uid"]: row["count"] for row in rows}

    async def edges_from_items(self, items: Sequence[str]) -> list[Edge]:
        if not items:
            return []
        rows = await self._run(of_edges.extracted_edges(self._types.all), items=list(items), tenant=self._tenant)
        return [edge_of(row["edge"]) for row in rows]

    async def consolidated(self, source_ids: Sequence[str]) -> dict[str, Node]:
        keys = [item_key(self._tenant, self._context, source_id) for source_id in source_ids]
        passages = by_uid(await self._run(of_nodes.CONSOLIDATED, keys=keys) if keys else [])
        return {node.source_id or "": node for node in passages.values()}

    async def isolated(self, uids: Sequence[str]) -> set[str]:
        if not uids:
            return set()
        types = tuple(name for name in self._types.all if name not in WEAK_TYPES)
        rows = await self._run(of_edges.isolated(types), uids=list(uids), tenant=self._tenant)
        return {row["uid"] for row in rows}

    async def counters(self, flows: Sequence[str]) -> Counters:
        arrivals = arrivals_record(self._tenant, self._context)
        steps = {flow: steps_record(self._tenant, self._context, flow) for flow in flows}
        rows = await self._run(records.COUNTERS, records=[arrivals, *steps.values()])
        values = {row["record"]: row["value"] or 0 for row in rows}
        return Counters(values.get(arrivals, 0), {flow: values.get(record, 0) for flow, record in steps.items()})

    async def gaps(self, flow: str | None, keys: Sequence[ChainKey]) -> list[Gap]:
        if not keys:
            return []
        first, *between = keys
        around = await self._neighbours(flow, [first, keys[-1]])
        # Most new items are later than all stored ones: a single gap, which needs no look-up per key.
        if between and around[0] != around[1]:
            around = await self._neighbours(flow, keys)
        else:
            around = around[:1] * len(keys)
        return [Gap(*neighbours, len(list(run))) for neighbours, run in groupby(around)]

    async def latest(self, before: ChainKey, limit: int) -> list[Node]:
        prefix = chain_prefix(self._tenant, self._context, None)
        rows = await self._run(of_nodes.BEFORE, place=place(prefix, before), prefix=prefix, limit=limit)
        return nodes_in(rows)

    async def _neighbours(self, flow: str | None, keys: Sequence[ChainKey]) -> list[tuple[str | None, str | None]]:
        prefix = chain_prefix(self._tenant, self._context, flow)
        places = [place(prefix, key) for key in keys]
        query = of_nodes.gaps(flow is not None)
        rows = await self._run(query, places=places, prefix=prefix, end=chain_end(prefix))
        return [(row["before"], row["after"]) for row in sorted(rows, key=lambda row: row["number"])]

    async def put_nodes(self, nodes: Sequence[Node]) -> None:
        renamed: list[str] = []
        termed: dict[str, str] = {}
        for label, group in _grouped(nodes, _label):
            query = outbox.PUT if label is Label.CHUNK else of_nodes.put(label)
            for batch in batched(group, _BATCH):
                rows = [{"ordinal": number, "node": node_row(node)} for number, node in enumerate(batch)]
                put = await self._run(query, rows=rows)
                self._keys.update((row["uid"], row["key"]) for row in put)
                renamed += [row["key"] for row in put if row["renamed"]]
                termed |= {row["uid"]: row["key"] for row in put if label is not Label.CHUNK and row["termed"]}
        await put_terms(self._run, [(termed[node.uid], node) for node in nodes if node.uid in termed])
        await self._count(nodes)
        if renamed:
            await self._run(text.SET_HEADS, sources=renamed)

    async def put_edges(self, edges: Sequence[Edge]) -> None:
        self._types.registry.require({edge.type for edge in edges})
        await self._find_ends(edges)
        for edge_type, group in _grouped(edges, _type):
            for batch in batched(_merge_duplicates(group), _BATCH):
                rows = [
                    {"source": self._keys[e.source], "target": self._keys[e.target], "edge": edge_row(e)} for e in batch
                ]
                await self._run(of_edges.put(edge_type), rows=rows)
        await self._update_copies((edge.type, self._keys[edge.source]) for edge in edges)

    async def drop_edges(self, edges: Sequence[Edge]) -> None:
        dropped: list[tuple[str, str]] = []
        for edge_type, group in _grouped(edges, _type):
            if edge_type not in self._types.all:
                continue
            rows = await self._run(of_edges.drop(edge_type), ids=[edge.id for edge in group], tenant=self._tenant)
            dropped += [(edge_type, row["source"]) for row in rows]
        await self._update_copies(dropped)

    async def drop_nodes(self, uids: Sequence[str]) -> None:
        for batch in batched(dict.fromkeys(uids), _BATCH):
            values = {"uids": list(batch), "tenant": self._tenant}
            repeating = await self._run(of_nodes.PAYLOAD_SOURCES, **values)
            await drop_terms(self._run, self._tenant, batch)
            await self._run(of_nodes.DROP, **values)
            await self._run(outbox.RENEW_PAYLOADS, sources=[row["source"] for row in repeating])
            await self._run(records.DROP, records=[use_record(uid) for uid in batch])
            for uid in batch:
                await dequeue_extraction(self._run, self._tenant, uid)
                self._keys.pop(uid, None)

    async def transfer_uses(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        rows = [{"record": use_record(uid), "uid": uid} for uid in sorted(targets)]
        source_records = [use_record(uid) for uid in sources]
        await self._run(records.TRANSFER_USES, records=source_records, uses=rows, tenant=self._tenant)

    async def raise_uses(self, uses: Mapping[str, Use]) -> None:
        rows = [
            {"record": use_record(uid), "uid": uid, "times": use.times, "at": to_us(use.last)}
            for uid, use in sorted(uses.items())
        ]
        await self._run(records.RAISE_USES, uses=rows, tenant=self._tenant)

    async def log_step(self, step: MaintenanceStep) -> None:
        await put_step(self._run, step)

    async def raise_counters(self, counters: Counters) -> None:
        steps = {steps_record(self._tenant, self._context, flow): n for flow, n in counters.flow_steps.items()}
        numbers = {arrivals_record(self._tenant, self._context): counters.arrival, **steps}
        rows = [{"record": record, "value": value} for record, value in sorted(numbers.items())]
        await self._run(records.RAISE_COUNTERS, counts=rows)

    async def record_erasure(self, note: ErasurePart) -> None:
        await put_erasure_record(self._run, note)

    async def drop_receipts(self, keys: Sequence[str]) -> None:
        await self._run(records.DROP_RECEIPTS, tenant_key=tenant_key(self._tenant), keys=list(keys))

    async def drop_steps(self, ids: Sequence[str]) -> None:
        await self._run(records.DROP, records=[step_record(step_id) for step_id in ids])

    async def drop_counters(self, flows: Sequence[str], *, arrivals: bool = False) -> None:
        # The record that counts arrivals is also the context's lock and holds no name: only its count is removed.
        await self._run(records.DROP, records=[steps_record(self._tenant, self._context, flow) for flow in flows])
        if arrivals:
            await self._run(records.DROP_ARRIVALS, record=arrivals_record(self._tenant, self._context))

    async def mark_import(self, mark: str | None) -> None:
        await self._run(records.MARK, mark=mark)

    async def queue_extractions(self, items: Sequence[str]) -> None:
        if items:
            await queue_extractions(self._run, self._tenant, self._context, items)

    async def dequeue_extraction(self, item: str) -> bool:
        return await dequeue_extraction(self._run, self._tenant, item)

    async def _count(self, nodes: Sequence[Node]) -> None:
        counts: dict[str, int] = {}
        for node in nodes:
            for record, value in numbers_of(node):
                counts[record] = max(value, counts.get(record, 0))
        if counts:
            rows = [{"record": record, "value": value} for record, value in sorted(counts.items())]
            await self._run(records.RAISE_COUNTERS, counts=rows)

    async def _find_ends(self, edges: Sequence[Edge]) -> None:
        """Look up the element ids of these edges' ends. Raises MissingRecordError if an end does not exist."""
        ends = {uid for edge in edges for uid in (edge.source, edge.target)}
        unknown = sorted(ends - self._keys.keys())
        if unknown:
            rows = await self._run(of_nodes.KEYS, uids=unknown, tenant=self._tenant)
            self._keys.update((row["uid"], row["key"]) for row in rows)
        missing = [uid for uid in unknown if uid not in self._keys]
        if missing:
            raise MissingRecordError(f"An edge names nodes that do not exist: {', '.join(missing[:5])}")

    async def _update_copies(self, changed: Iterable[tuple[str, str]]) -> None:
        """Update the copies of edges, by type and source: indexed text and payloads."""
        pairs = set(changed)
        described = sorted({source for edge_type, source in pairs if edge_type == "EVIDENCED_BY"})
        renewed = sorted({source for edge_type, source in pairs if edge_type in IN_PAYLOAD})
        if described:
            await self._run(text.SET_HEADS, sources=described)
        if renewed:
            await self._run(outbox.RENEW_PAYLOADS, sources=renewed)


def receipt_of(key: str, rows: Sequence[Record]) -> Receipt | None:
    """Return the receipt of a look-up's rows, or None."""
    for row in rows:
        return keyed_receipt({**row["receipt"], "receipt_key": key})
    return None


def keyed_receipt(found: Mapping[str, Any]) -> Receipt:
    """Return the receipt of a look-up that returns its key, too."""
    return Receipt(found["receipt_key"], found["fingerprint"], from_us(found["created_at"]), json.loads(found["body"]))


def _merge_duplicates(edges: Iterable[Edge]) -> list[Edge]:
    """Return each edge once: its last occurrence, with the creation data of its first."""
    merged: dict[str, Edge] = {}
    for edge in edges:
        first = merged.get(edge.id, edge)
        merged[edge.id] = replace(edge, created_at=first.created_at, created_by=first.created_by)
    return list(merged.values())


def _grouped[T, K](values: Iterable[T], key: Callable[[T], K]) -> Iterator[tuple[K, list[T]]]:
    groups: dict[K, list[T]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    yield from groups.items()
