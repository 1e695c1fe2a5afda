"""Judges an answer by what is right about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vicw_bench.cases.model import Right

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_SHOWN = 8
_MISSING = object()


def judge(right: Right, status: int, answer: Any) -> list[str]:
    """Return what is wrong about an answer, a line each; nothing if it is right."""
    return list(_problems(right, status, answer))


def ids_of(answer: Any) -> list[str]:
    """Return the results of an answer in order, by the caller's ids, else by uids."""
    results = answer.get("results") if isinstance(answer, Mapping) else None
    return [str(result.get("id") or result.get("uid")) for result in results or () if isinstance(result, Mapping)]


def field_of(answer: Any, path: str) -> Any:
    """Return a field by its path (``results[0].id``). Raises LookupError if the answer lacks it."""
    value = answer
    for name, number in _STEP.findall(path):
        if isinstance(value, Mapping if name else Sequence) and not isinstance(value, str):
            value = value[name or int(number)]
        else:
            raise LookupError(path)
    return value


def _problems(right: Right, status: int, answer: Any) -> Iterator[str]:
    if (status != right.status) if right.status is not None else not 200 <= status < 300:
        yield f"status {status}, not {right.status or 'a success'}"
    found = ids_of(answer)
    yield from _wrong_results(right, found)
    yield from _wrong_text(right, answer.get("text") if isinstance(answer, Mapping) else None)
    for path, value in right.fields.items():
        given = _field(answer, path)
        if given is _MISSING or given != value:
            yield f"{path} is {'missing' if given is _MISSING else repr(given)}, not {value!r}"
    for path in right.present:
        if _field(answer, path) in (_MISSING, None, "", [], {}):
            yield f"{path} is missing or empty"
    if right.any_of:
        tried = [judge(one, status, answer) for one in right.any_of]
        if all(tried):
            yield " / ".join("; ".join(problems) for problems in tried)


def _wrong_results(right: Right, found: list[str]) -> Iterator[str]:
    if missing := set(right.first) - set(found[: len(right.first)]):
        yield f"{_list(missing)} not among the first {len(right.first)} ({_list(found)})"
    for count, ids in right.among.items():
        if missing := set(ids) - set(found[:count]):
            yield f"{_list(missing)} not among the first {count} ({_list(found)})"
    for count, ids in right.at_least.items():
        if (held := len(set(ids) & set(found))) < count:
            yield f"{held} of {_list(ids)}, not {count} or more"
    for earlier, later in right.before:
        if earlier not in found or (later in found and found.index(later) < found.index(earlier)):
            yield f"{earlier} not before {later} ({_list(found)})"
    if present := set(right.absent) & set(found):
        yield f"{_list(present)} among the results ({_list(found)})"
    if right.results is not None and len(found) != right.results:
        yield f"{len(found)} results ({_list(found)}), not {right.results}"


def _wrong_text(right: Right, text: Any) -> Iterator[str]:
    given = text if isinstance(text, str) else ""
    yield from (f"text lacks {part!r}" for part in right.text_contains if part not in given)
    yield from (f"text contains {part!r}" for part in right.text_lacks if part in given)
    if not isinstance(text, str) and right.text_lacks:
        yield "the answer has no text"


def _field(answer: Any, path: str) -> Any:
    try:
        return field_of(answer, path)
    except LookupError:
        return _MISSING


def _list(ids: Sequence[str] | set[str]) -> str:
    names = sorted(ids) if isinstance(ids, set) else list(ids)
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "") or "no results"
