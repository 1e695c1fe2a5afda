"""Errors on the wire: RFC 9457 problem details with a stable ``type``."""

from __future__ import annotations

from vicw_shared.errors import FieldProblem, InvalidInputError, UnavailableError, VicwError
from vicw_shared.wire.base import Message

MEDIA_TYPE = "application/problem+json"


class WrongField(Message):
    """One wrong field and its fix."""

    field: str
    problem: str
    fix: str


class Problem(Message):
    """A problem document. ``type`` is ``urn:vicw:problem:`` and a stable slug."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: tuple[WrongField, ...] = ()
    dependency: str | None = None


def problem_of(error: VicwError, request_id: str | None) -> Problem:
    """Return the problem document of an error."""
    fields: tuple[FieldProblem, ...] = error.problems if isinstance(error, InvalidInputError) else ()
    return Problem(
        type=f"urn:vicw:problem:{error.slug}",
        title=error.title,
        status=error.status,
        detail=error.detail,
        request_id=request_id,
        errors=tuple(WrongField(field=f.field, problem=f.problem, fix=f.fix) for f in fields),
        dependency=error.dependency if isinstance(error, UnavailableError) else None,
    )
