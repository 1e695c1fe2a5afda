"""What a store has of an export: nothing, a half that is to go on, or what was imported once and has lived since."""

from __future__ import annotations

from typing import Protocol

from vicw_shared.model import Label
from vicw_shared.ports import GraphArchive, GraphAudit, GraphStore
from vicw_sleep.archive.judging import Home, Judged
from vicw_sleep.archive.marks import Mark, read_mark


class Asked(GraphStore, GraphArchive, GraphAudit, Protocol):
    """A graph that is asked."""


async def is_empty(graph: Asked) -> bool:
    """Tell whether a store has nothing, and no import that broke off."""
    mark = await read_mark(graph)
    return (mark is None or mark.done) and await graph.count(Label.CONTEXT) == 0


async def mark_of(judged: Judged, graph: Asked) -> Mark | None:
    """Return what a store has noted of the import of this export, None where that is over and nothing of it is left.

    A mark that is ``done`` says what was imported, not what is there: that may have changed since.
    """
    mark = await read_mark(graph)
    if mark is None or mark.id != judged.reader.manifest.digest:
        return None
    return mark if not mark.done or await contexts_of(judged, graph) else None


async def is_half(judged: Judged, graph: Asked) -> bool:
    """Tell whether a store has a part of this export and nothing else, as an import leaves it that broke off."""
    mark = await mark_of(judged, graph)
    if mark is None or mark.done or mark.given_up:
        return False
    return await graph.count(Label.CONTEXT) == len(await contexts_of(judged, graph))


async def contexts_of(judged: Judged, graph: GraphStore) -> list[Home]:
    """Return those contexts of an export that a store has, in order."""
    found: list[Home] = []
    for tenant in judged.tenants:
        known = {(tenant, root.context) for root in await graph.contexts(tenant)}
        found += sorted(known & judged.homes.keys())
    return found
