"""What a store notes of an import that is under way: which export it is of, and how far it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from operator import methodcaller

from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.ports import GraphArchive, GraphStore, Store


@dataclass(frozen=True, slots=True)
class ImportMarker:
    """How far the import of an export (``id``, of ``made``) is: all before a line of a file is stored.

    It brings these ``tenants``, of which nothing was stored. ``given_up``: what it has brought is being erased, so that
    it cannot go on where it was.
    """

    id: str
    made: str
    tenants: tuple[str, ...]
    file: str = ""
    line: int = 0
    given_up: bool = False

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self))


async def read_mark(graph: GraphArchive) -> ImportMarker | None:
    """Return what a store has noted, None if no import is under way."""
    told = await graph.import_mark()
    return ImportMarker(**json.loads(told)) if told is not None else None


async def require_no_import(graph: GraphArchive) -> None:
    """Raise ConflictError where an import is not complete: its contexts may have half of their chains."""
    mark = await read_mark(graph)
    if mark is not None and mark.given_up:
        raise StateConflictError(
            f"The import of an export, made at {mark.made}, is given up, and not all of it is erased yet. Run `vicw "
            "forget import` again"
        )
    if mark is not None:
        raise StateConflictError(
            f"The import of an export, made at {mark.made}, broke off in this store. Run the same `vicw import` or "
            "`vicw restore` again: it goes on where it was. Or give it up: `vicw forget import`"
        )


async def read_half(graph: GraphArchive) -> ImportMarker:
    """Return the mark of an import that is not complete. Raises NotFoundError where there is none."""
    mark = await read_mark(graph)
    if mark is None:
        raise MissingRecordError("No import broke off in this store")
    return mark


async def put_mark(graph: GraphStore, tenant: str, mark: ImportMarker | None) -> None:
    """Note how it is with an import, by whichever of its tenants; None: none is under way any more."""
    await graph.write(tenant, "", methodcaller("mark_import", mark.dump() if mark is not None else None))


async def mark_abandoned(graph: Store) -> None:
    """Note that the import that broke off must not go on. Raises as ``read_half`` does."""
    mark = await read_half(graph.archive)
    await put_mark(graph, mark.tenants[0], replace(mark, given_up=True))
