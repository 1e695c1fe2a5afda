"""Limits on the sizes that a request asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.retrieve import Viewer

Size = tuple[str, int, int, str, str]
"""A field, the size that it asks for, its limit, the limit's setting, and the unit."""


def require_within_limits(sizes: Iterable[Size]) -> None:
    """Raise InvalidInputError that names every field over its limit."""
    problems = [
        FieldProblem(name, f"asks for {size} {unit}, over the limit of {limit}", f"Ask for less, or raise {setting}")
        for name, size, limit, setting, unit in sizes
        if size > limit
    ]
    if problems:
        raise InvalidInputError(*problems)


def name_sizes(
    names: Mapping[str, str | None], lists: Mapping[str, tuple[str, ...]], viewer: Viewer | None, limits: LimitSettings
) -> Iterator[Size]:
    """Yield the lengths of all names of a request, and the number of names in each list."""
    names, lists = dict(names), dict(lists)
    if viewer is not None:
        names |= {"viewer.user": viewer.user, "viewer.context": viewer.context}
        lists["viewer.participants"] = viewer.participants
    for field, values in lists.items():
        yield field, len(values), limits.tags, "VICW_MAX_TAGS", "names"
        names |= {f"{field}[{index}]": value for index, value in enumerate(values[: limits.tags])}
    for field, name in names.items():
        yield field, len(name or ""), limits.name_chars, "VICW_MAX_NAME_CHARS", "characters"
