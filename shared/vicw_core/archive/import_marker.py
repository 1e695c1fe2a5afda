"""Marker of an import in progress: which export, and how far it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from operator import methodcaller

from vicw_shared.errors import MissingRecordError, StateConflictError
from vicw_shared.ports import GraphArchive, GraphStore, Store


@dataclass(frozen=True, slots=True)
class ImportMarker:
    """Progress of the import of an export (``id``, created at ``made``): everything before a line of a file is stored.

    It imports these ``tenants``, which were empty before. ``given_up``: its data is being erased, so it cannot
    continue.
    """

    id: str
    made: str
    tenants: tuple[str, ...]
    file: str = ""
    line: int = 0
    given_up: bool = False

    def dump(self) -> str:
        """Return the marker as JSON."""
        return json.dumps(asdict(self))


async def read_mark(graph: GraphArchive) -> ImportMarker | None:
    """Return the store's marker, None if no import is in progress."""
    stored = await graph.import_mark()
    return ImportMarker(**json.loads(stored)) if stored is not None else None


async def require_no_import(graph: GraphArchive) -> None:
    """Raise StateConflictError while an import is incomplete: chains of its contexts may be partial."""
    mark = await read_mark(graph)
    if mark is not None and mark.given_up:
        raise StateConflictError(
            f"The import of an export, made at {mark.made}, was given up and is not fully erased yet. Run `vicw "
            "forget import` again"
        )
    if mark is not None:
        raise StateConflictError(
            f"The import of an export, made at {mark.made}, broke off in this store. Run the same `vicw import` or "
            "`vicw restore` again: it resumes where it stopped. Or give it up: `vicw forget import`"
        )


async def read_half(graph: GraphArchive) -> ImportMarker:
    """Return the marker of an incomplete import. Raises MissingRecordError if there is none."""
    mark = await read_mark(graph)
    if mark is None:
        raise MissingRecordError("No import broke off in this store")
    return mark


async def put_mark(graph: GraphStore, tenant: str, mark: ImportMarker | None) -> None:
    """Store the marker, through one of its tenants; None: no import is in progress any more."""
    await graph.write(tenant, "", methodcaller("mark_import", mark.dump() if mark is not None else None))


async def mark_abandoned(graph: Store) -> None:
    """Mark the incomplete import as given up. Raises as ``read_half`` does."""
    mark = await read_half(graph.archive)
    await put_mark(graph, mark.tenants[0], replace(mark, given_up=True))
