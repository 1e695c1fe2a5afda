"""What a store notes of an import: which export it is of, and how far it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from vicw_shared.errors import ConflictError
from vicw_shared.ports import GraphArchive


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the import of an export (``id``, of ``made``) is: all before a line of a file is stored."""

    id: str
    made: str
    file: str = ""
    line: int = 0
    done: bool = False

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
    if mark is not None and not mark.done:
        raise ConflictError(
            f"The import of an export, made at {mark.made}, broke off in this store. Run the same `vicw import` or "
            "`vicw restore` again: it goes on where it was"
        )
