"""Compiler of a filter: from its wire form to conditions that every store translates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from vicw_shared.clock import to_us
from vicw_shared.domains import canonical
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Label, Sensitivity
from vicw_shared.ports.item_filter import (
    ARRIVAL,
    HAPPENED,
    IMPORTANCE,
    METADATA,
    TAGS,
    TOLD,
    USER,
    AllOf,
    Between,
    ItemCondition,
    Not,
    OneHolds,
    OneOf,
    Present,
    StartsWith,
)
from vicw_shared.settings import LimitSettings
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid
from vicw_shared.wire.filters import Filter, NumberMatch, TagsMatch, TextMatch, TimeMatch, ValueMatch
from vicw_shared.wire.validation_errors import describe

_NAMES = {
    "context": "context",
    "domain": "domain",
    "label": "label",
    "subtype": "subtype",
    "speaker": "speaker",
    "user": USER,
    "flow": "flow_id",
    "source": "source",
    "id": "source_id",
    "uid": "uid",
    "sensitivity": "sensitivity",
}
_NUMBERS = {"importance": IMPORTANCE, "told": TOLD, "happened": HAPPENED, "arrival": ARRIVAL}
_KNOWN = {
    "label": (Label.EVENT.value, Label.ENTITY.value),
    "sensitivity": tuple(level.value for level in Sensitivity),
}


def parse_filter(text: str, field: str = "filter") -> Filter:
    """Return a filter that is sent as text. Raises InvalidInputError that names the place of a fault."""
    try:
        return Filter.model_validate_json(text)
    except ValidationError as error:
        problems: Sequence[FieldProblem] = describe(error.errors(), "")
        raise InvalidInputError(
            *(FieldProblem(f"{field}.{p.field}".rstrip("."), p.problem, p.fix) for p in problems)
        ) from None


def compile_filter(chosen: Filter, limits: LimitSettings, field: str = "filter") -> ItemCondition:
    """Return the conditions of a filter; ``field`` is where it stands in the request, "" for the request itself.

    Raises InvalidInputError for a filter over its limits, a label or a sensitivity that does not exist, and a prefix
    of a uid.
    """
    require_filter_within_limits(chosen, limits, field)
    return _conditions(chosen, field)


def compile_in_context(chosen: Filter, limits: LimitSettings, context: str | None) -> ItemCondition:
    """Return the conditions of a filter beside which a context may be named. Raises as ``compile_filter``."""
    condition = compile_filter(chosen, limits)
    return condition if context is None else AllOf((OneOf("context", (context,)), condition))


def require_filter_within_limits(chosen: Filter, limits: LimitSettings, field: str = "filter") -> None:
    """Raise InvalidInputError for a filter that is nested too deep or compares with too many values."""
    if (depth := chosen.depth()) > limits.filter_depth:
        problem = f"nests {depth} levels, over the limit of {limits.filter_depth}"
        raise InvalidInputError(FieldProblem(field, problem, "Flatten it, or raise VICW_MAX_FILTER_DEPTH"))
    if (size := chosen.size()) > limits.filter_values:
        problem = f"compares with {size} values, over the limit of {limits.filter_values}"
        raise InvalidInputError(FieldProblem(field, problem, "Ask for less, or raise VICW_MAX_FILTER_VALUES"))


def _conditions(chosen: Filter, place: str) -> ItemCondition:
    found: list[ItemCondition] = []
    for name, field in _NAMES.items():
        if (match := getattr(chosen, name)) is not None:
            found += _name(name, field, match, f"{place}.{name}".lstrip("."))
    for name, field in _NUMBERS.items():
        if (numbers := getattr(chosen, name)) is not None:
            found += _number(field, numbers)
    if chosen.tags is not None:
        found += _tags(chosen.tags)
    for key, value in chosen.metadata.items():
        found += _value(METADATA + key, value)
    found += [_conditions(group, f"{place}.all[{number}]") for number, group in enumerate(chosen.all or ())]
    if chosen.any is not None:
        found.append(
            OneHolds(tuple(_conditions(group, f"{place}.any[{number}]") for number, group in enumerate(chosen.any)))
        )
    if chosen.not_ is not None:
        found.append(Not(_conditions(chosen.not_, f"{place}.not")))
    return found[0] if len(found) == 1 else AllOf(tuple(found))


def _name(name: str, field: str, match: TextMatch, place: str) -> Iterator[ItemCondition]:
    spell = {"domain": canonical, "uid": str.lower}.get(name, str)
    for values in ((match.eq,) if match.eq is not None else None, match.in_):
        if values is not None:
            _require_known(name, values, place)
            yield OneOf(field, tuple(map(spell, values)))
    if match.prefix is not None:
        if name in {"uid", *_KNOWN}:
            raise InvalidInputError(FieldProblem(place, "has no operator `prefix`", "Use `eq` or `in`"))
        yield StartsWith(field, fold_case(match.prefix) if name == "domain" else match.prefix)
    yield from _presence(field, match.exists)


def _require_known(name: str, values: Iterable[str], place: str) -> None:
    known = _KNOWN.get(name)
    for value in values:
        if known is not None and value not in known:
            raise InvalidInputError(FieldProblem(place, f"{value!r} is no {name}", f"Use one of {', '.join(known)}"))
        if name == "uid" and not is_uid(value.lower()):
            raise InvalidInputError(FieldProblem(place, f"{value!r} is no uid", "Use `id` for an id of yours"))


def _tags(match: TagsMatch) -> Iterator[ItemCondition]:
    if match.any is not None:
        yield OneOf(TAGS, tuple(map(fold_case, match.any)))
    for tag in match.all or ():
        yield OneOf(TAGS, (fold_case(tag),))
    if match.none is not None:
        yield Not(OneOf(TAGS, tuple(map(fold_case, match.none))))


def _number(field: str, match: NumberMatch | TimeMatch) -> Iterator[ItemCondition]:
    if isinstance(match, NumberMatch) and match.eq is not None:
        yield Between(field, (match.eq, True), (match.eq, True))
    if isinstance(match, NumberMatch):
        yield from _range(field, match)
    else:
        yield from _range(field, match, to_us)
    yield from _presence(field, match.exists)


def _value(field: str, match: ValueMatch) -> Iterator[ItemCondition]:
    if match.eq is not None:
        yield OneOf(field, (match.eq,))
    if match.in_ is not None:
        yield OneOf(field, match.in_)
    yield from _range(field, match)
    yield from _presence(field, match.exists)


def _as_it_is(bound: Any) -> Any:
    return bound


def _range(
    field: str, match: NumberMatch | TimeMatch | ValueMatch, measure: Callable[[Any], str | float] = _as_it_is
) -> Iterator[ItemCondition]:
    """Yield the conditions of the bounds: of two lower or upper ones both count."""
    for name, inclusive in (("gt", False), ("gte", True)):
        if (bound := getattr(match, name)) is not None:
            yield Between(field, low=(measure(bound), inclusive))
    for name, inclusive in (("lt", False), ("lte", True)):
        if (bound := getattr(match, name)) is not None:
            yield Between(field, high=(measure(bound), inclusive))


def _presence(field: str, exists: bool | None) -> Iterator[ItemCondition]:
    if exists is not None:
        yield Present(field) if exists else Not(Present(field))
