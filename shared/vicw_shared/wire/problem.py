"""Errors on the wire: RFC 9457 problem details with a stable ``type``."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_shared.errors import FieldProblem, InvalidInputError, UnavailableError, VicwError
from vicw_shared.wire.base import Message

MEDIA_TYPE = "application/problem+json"
_URN = "urn:vicw:problem:"


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
        type=f"{_URN}{error.slug}",
        title=error.title,
        status=error.status,
        detail=error.detail,
        request_id=request_id,
        errors=tuple(WrongField(field=f.field, problem=f.problem, fix=f.fix) for f in fields),
        dependency=error.dependency if isinstance(error, UnavailableError) else None,
    )


def error_of(problem: Problem) -> VicwError:
    """Return the error that a problem document was made of; one of an unknown kind is a plain VicwError."""
    kind = next((kind for kind in _kinds(VicwError) if problem.type == f"{_URN}{kind.slug}"), VicwError)
    if issubclass(kind, InvalidInputError):
        return kind(*(FieldProblem(wrong.field, wrong.problem, wrong.fix) for wrong in problem.errors))
    if issubclass(kind, UnavailableError):
        dependency = problem.dependency or ""
        return kind(dependency, problem.detail.removeprefix(f"{dependency}: "))
    return kind(problem.detail)


def _kinds(kind: type[VicwError]) -> Iterator[type[VicwError]]:
    """Yield the tree of errors, parents first: a child without a slug of its own is its parent on the wire."""
    yield kind
    for child in kind.__subclasses__():
        yield from _kinds(child)
