"""Format of an export on disk (docs/export.md): its files and their content.

``import_marker`` notes in a store which import it has begun. ``vicw_sleep.archive`` exports a store to this format and
imports it.
"""

from vicw_shared.errors import FieldProblem, InvalidInputError

PACKED = ".tar.gz"
"""Suffix of a packed backup."""
AGAIN = "Make the export again, or take another copy of it; nothing was imported"


def refusal(file: str, problem: str, fix: str = AGAIN, *, line: int | None = None) -> InvalidInputError:
    """Return the error for a file of an export, or for one of its lines (from 1)."""
    return InvalidInputError(FieldProblem(file if line is None else f"{file}, line {line}", problem, fix))
