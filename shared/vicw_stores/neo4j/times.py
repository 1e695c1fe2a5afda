"""Items and statements by time, and the times of items' statements, on Neo4j."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.clock import from_us, to_us
from vicw_shared.model import Node
from vicw_shared.model.chain import in_time_order
from vicw_shared.model.core5 import LASTS
from vicw_shared.model.stated_times import Interval, stated_interval
from vicw_shared.ports import PassageTimes
from vicw_stores.neo4j.cypher import times
from vicw_stores.neo4j.database import RunStatement
from vicw_stores.neo4j.keys import clock_span
from vicw_stores.neo4j.rows import gathered, metadata_of, nodes_in


async def find_between(
    run: RunStatement, tenant: str, span: Interval, contexts: Sequence[str], limit: int, *, earliest: bool
) -> list[Node]:
    """Return the items of a span, at most ``limit`` of each context and of all."""
    spans = [clock_span(tenant, context, *span) for context in dict.fromkeys(contexts)]
    query = times.EARLIEST if earliest else times.LATEST
    rows = await run(query, spans=spans, tenant=tenant, limit=limit) if spans else []
    return in_time_order(nodes_in(rows), earliest=earliest)


async def find_stated_between(
    run: RunStatement, tenant: str, span: Interval, contexts: Sequence[str], limit: int, *, earliest: bool
) -> list[Node]:
    """Return the statements of a span, at most ``limit`` of each context and of all."""
    start, end = map(to_us, span)
    spans = [{"context": context, "start": start, "end": end} for context in dict.fromkeys(contexts)]
    query = times.STATED_EARLIEST if earliest else times.STATED_LATEST
    rows = await run(query, spans=spans, tenant=tenant, limit=limit) if spans else []
    return in_time_order(nodes_in(rows), earliest=earliest)


async def find_stated_times(run: RunStatement, tenant: str, items: Sequence[str]) -> dict[str, list[PassageTimes]]:
    """Return the times of the statements of these items, an entry for each passage that has any."""
    by_item: dict[str, list[PassageTimes]] = {}
    for row in gathered(await run(times.STATED_TIMES, uids=list(items), tenant=tenant)) if items else []:
        stated = [
            stated_interval(from_us(at), metadata_of(metadata).get(LASTS))
            for at, metadata in row["stated"]
            if at is not None
        ]
        found = PassageTimes(row["chunk"], tuple(sorted(stated)), bool(row["untimed"]))
        by_item.setdefault(row["owner"], []).append(found)
    return by_item
