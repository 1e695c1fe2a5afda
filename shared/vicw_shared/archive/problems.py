"""Errors in the files of an export: file, line, field and fix."""

from __future__ import annotations

from vicw_shared.errors import FieldProblem, InvalidInputError

AGAIN = "Make the export again, or take another copy of it; nothing was imported"


def refusal(file: str, problem: str, fix: str = AGAIN, *, line: int | None = None) -> InvalidInputError:
    """Return the error for a file, or for one of its lines (from 1)."""
    return InvalidInputError(FieldProblem(file if line is None else f"{file}, line {line}", problem, fix))
