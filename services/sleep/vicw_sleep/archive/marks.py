"""What a store notes of an import: which export it is of, and how far it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from operator import methodcaller
from typing import Protocol

from vicw_shared.errors import ConflictError, NotFoundError
from vicw_shared.ports import GraphArchive, GraphStore


class Graph(GraphStore, GraphArchive, Protocol):
    """What is asked for an import, and told how it is with it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the import of an export (``id``, of ``made``) is: all before a line of a file is stored.

    ``given_up``: what it has brought is being erased, so that it cannot go on where it was.
    """

    id: str
    made: str
    file: str = ""
    line: int = 0
    done: bool = False
    given_up: bool = False

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))


async def read_mark(graph: GraphArchive) -> Mark | None:
    """Return what a store has noted, None if nothing was ever imported."""
    noted = await graph.import_mark()
    return Mark(**json.loads(noted)) if noted is not None else None


async def require_whole(graph: GraphArchive) -> None:
    """Raise ConflictError where an import broke off: its contexts have half of their chains."""
    mark = await read_mark(graph)
    if mark is not None and mark.given_up:
        raise ConflictError(
            f"The import of an export, made at {mark.made}, is given up, and not all of it is erased yet. Run `vicw "
            "forget import` again"
        )
    if mark is not None and not mark.done:
        raise ConflictError(
            f"The import of an export, made at {mark.made}, broke off in this store. Run the same `vicw import` or "
            "`vicw restore` again: it goes on where it was. Or give it up: `vicw forget import`"
        )


def dump_homes(homes: Iterable[tuple[str, str]]) -> str:
    """Return contexts (tenant, name) as what a store notes of an import that begins."""
    return json.dumps(sorted(homes))


async def homes_of_half(graph: GraphArchive) -> dict[str, list[str]]:
    """Return the contexts (names by tenant) that an import brings which broke off: some of them in part, or not yet.

    Raises NotFoundError where none broke off, ConflictError where a version began it that noted no contexts.
    """
    mark = await read_mark(graph)
    if mark is None or mark.done:
        raise NotFoundError("No import broke off in this store")
    if (noted := await graph.import_homes()) is None:
        raise ConflictError("An earlier version began this import, and noted no contexts: run the same import again")
    found: dict[str, list[str]] = {}
    for tenant, context in json.loads(noted):
        found.setdefault(tenant, []).append(context)
    return found


async def begin_giving_up(graph: Graph) -> None:
    """Note that the import that broke off must not go on. Raises as ``homes_of_half`` does."""
    tenant = next(iter(await homes_of_half(graph)))
    if (mark := await read_mark(graph)) is not None:
        await graph.write(tenant, "", methodcaller("mark_import", replace(mark, given_up=True).dump()))


async def give_up(graph: GraphStore, tenant: str) -> None:
    """Note, by whichever tenant, that no import is under way any more: what it has brought is gone."""
    await graph.write(tenant, "", methodcaller("mark_import", None))
