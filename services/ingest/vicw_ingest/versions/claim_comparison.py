"""Compare two claims about the same attribute: whether the newer one excludes, ends or repeats the older."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vicw_ingest.versions.quantities import quantities

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
