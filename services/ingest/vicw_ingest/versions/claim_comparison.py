"""Compare two claims about the same attribute: whether the newer one excludes, ends or repeats the older."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBER = rf"(?<![\w.])(?:\d[\d,]*(?:\.\d+)?k?|{'|'.join(_NUMBERS)})\b"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = rf"(?:{'|'.join(_MONTHS)})(?:t|[a-z]*r?y|ch|il|e|ust|[a-z]*ber)?\b"
_DAY = r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_NOUN = r" (?!(?:now|on|in|and|from|these|every|instead|today|of|until)\b)[a-z]"
_CLOCK = (
    rf"(?:\b\d{{1,2}}(?::\d\d(?:\s?[ap]m)?|\s?[ap]m)\b|\bat (?:{'|'.join(_NUMBERS)}|\d{{1,2}})\b(?![.,:]?\d|{_NOUN}))"
)
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|"
    rf"\b\d{{1,2}}(?:st|nd|rd|th)\b(?!{_NOUN})|\b(?!may\b|mar\b|sep\b){_MONTH})"
)
_KINDS = {
    "clock": _CLOCK,
    "day": _DAY,
    "date": _DATE,
    "code": r"(?<![\w.])\d+(?:\.\d+){2,}(?![\w.])|\b\d+(?:[-/]\d+)+\b|\b[a-z]+[\w.]*[-_/]?\d+[\w.-]*\b",
    "number": _NUMBER,
}


def quantities(value: str) -> dict[str, frozenset[str]]:
    """Return the quantities in a value by kind, each under one kind only; a price is a number.

    >>> quantities("Friday at 3pm")
    {'clock': frozenset({'15:00'}), 'day': frozenset({'friday'})}
    """
    value, by_kind = value.casefold(), {}
    for kind, form in _KINDS.items():
        if values := frozenset(_normalised(kind, text) for text in re.findall(form, value)):
            by_kind[kind] = values
        value = re.sub(form, " ", value)
    return by_kind


def _normalised(kind: str, text: str) -> str:
    """Return the normal form of a quantity. A bare hour before seven is in the afternoon (*at two*)."""
    if kind == "number":
        text = str(_NUMBERS.index(text)) if text in _NUMBERS else text.replace(",", "")
        return f"{float(text[:-1]) * 1000 if text.endswith('k') else float(text):g}"
    if kind == "clock":
        hours, _, minutes = re.sub(r"^at |\s?[ap]m$", "", text).partition(":")
        hour = _NUMBERS.index(hours) if hours in _NUMBERS else int(hours)
        afternoon = text.endswith("pm") or (hour < _MORNING and not minutes and not text.endswith("am"))
        return f"{hour + 12 if afternoon and hour < _NOON else hour}:{minutes or '00'}"
    if kind == "date" and not text[:4].isdigit():
        day, month = re.search(r"\d+", text), re.search(rf"\b{_MONTH}", text)
        return f"{day[0] if day else ''} {month[0][:3] if month else ''}".strip()
    if kind == "date":
        return f"{int(text[8:])} {_MONTHS[int(text[5:7]) - 1]}"
    return text.removesuffix("s") if kind == "day" else text


_NOON, _MORNING = 12, 7


_WORD = re.compile(r"[\w'’.+#-]+")
_STOP = frozenset(
    "a an the my our your his her its their in at on of to for from by with near and now just still currently here "
    "there new old about around only this that really very mr mrs ms dr prof professor".split()
)
_VAGUE = re.compile(r"(?:about|around|roughly|over|almost|nearly|more than)\b", re.IGNORECASE)
_PER = re.compile(r"\b(?:an?|per|each|every) (hour|day|night|week|month|quarter|year|user|seat|person)\b")
_ON_DAYS = re.compile(r"days\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClaimedValue:
    """The value that a statement claims for an attribute, as written.

    ``ended``: the value no longer holds; an empty value means any. ``weak``: the attribute may have several
    values, so a new one replaces none unless the text states a change (``now``).
    """

    value: str
    ended: bool = False
    weak: bool = False
    now: bool = False


def supersedes(newer: ClaimedValue, older: ClaimedValue) -> bool:
    """Return whether ``newer`` gives another value than ``older``, or ends it."""
    if newer.ended:
        return not older.ended and (newer.value == "" or _overlap(newer.value, older.value))
    if newer.weak and not newer.now:
        return older.ended and _overlap(newer.value, older.value)
    named, was_named = (any(map(str.isupper, claim.value)) for claim in (newer, older))
    if named != was_named and not (newer.now or quantities(newer.value) or quantities(older.value)):
        return older.ended  # "at a bank" may be "at Pellmore"
    return older.ended or _excludes(newer.value, older.value)


def agrees(newer: ClaimedValue, older: ClaimedValue) -> bool:
    """Return whether both claim the same value, one possibly in more detail."""
    if newer.ended or older.ended:
        return newer.ended == older.ended and _words(newer.value) == _words(older.value)
    if _excludes(newer.value, older.value):
        return False
    new, old = quantities(newer.value), quantities(older.value)
    return bool(new.keys() & old.keys()) if new or old else _overlap(newer.value, older.value)


def are_readings(newer: ClaimedValue, older: ClaimedValue) -> bool:
    """Return whether both values are numbers: readings of a series (a weight, a count), each true of its own time."""
    return all("number" in quantities(claim.value) for claim in (newer, older))


def _excludes(new: str, old: str) -> bool:
    """Return whether two values exclude each other: different quantities of one kind, or no common words."""
    new_quantities, old_quantities = quantities(new), quantities(old)
    new_periods, old_periods = (set(_PER.findall(value.casefold())) for value in (new, old))
    if _VAGUE.match(new) or _VAGUE.match(old) or (new_periods and old_periods and new_periods != old_periods):
        return False  # 30 a month may be 360 a year
    if ("day" in new_quantities) != ("day" in old_quantities) and _ON_DAYS.search(f"{new} {old}"):
        return False  # "ten on Fridays" leaves the other days as they are
    if new_quantities and old_quantities:
        return any(
            _differ(new_quantities[kind], old_quantities[kind])
            for kind in new_quantities.keys() & old_quantities.keys()
        )
    if (new_quantities or old_quantities) and (new_quantities or old_quantities).keys() != {"code"}:
        return False
    return bool(_words(new)) and bool(_words(old)) and not _overlap(new, old)


def _differ(new: frozenset[str], old: frozenset[str]) -> bool:
    """Return whether no new quantity can equal an old one: *June* may be *12 June*."""
    pairs = [(set(new_words.split()), set(old_words.split())) for new_words in new for old_words in old]
    return not any(new_words <= old_words or old_words <= new_words for new_words, old_words in pairs)


def _overlap(new: str, old: str) -> bool:
    return not _words(new).isdisjoint(_words(old))


def _words(value: str) -> frozenset[str]:
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(value.casefold()))
    return frozenset(word.strip(".'’-") for word in words) - _STOP - {""}
