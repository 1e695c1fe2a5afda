"""Whether two claims of one subject's one attribute exclude each other."""

from __future__ import annotations

import re

from vicw_ingest.extraction.rules.truth.axes import may_both_be
from vicw_ingest.extraction.rules.truth.model import Claim
from vicw_ingest.extraction.rules.truth.values import Quantity, quantities

_WORDED = frozenset({"home", "name", "owner", "lead", "employer"})
"""Attributes whose values are words, also where one of them has a number: *the 3rd floor*, *Mill Lane*."""
_WORD = re.compile(r"[\w'’.+#-]+")
_STOP = frozenset(
    "a an the my our your his her its their in at on of to for from by with near and now just still currently "
    "here there "
    "new old about around only this that really very mr mrs ms dr prof professor".split()
)


def supersedes(newer: Claim, older: Claim) -> bool:
    """Tell whether ``newer`` gives another value than ``older``, or says that it has ended."""
    if newer.ended:
        return not older.ended and (newer.value == "" or _overlap(newer.value, older.value))
    if newer.attribute.startswith("state "):
        return older.ended or not (newer.value == older.value or may_both_be(newer.value, older.value))
    if newer.weak and not newer.now:
        return older.ended and _overlap(newer.value, older.value)
    return older.ended or (_excludes_words if newer.attribute in _WORDED else _excludes_as_told)(newer, older)


def _excludes_as_told(newer: Claim, older: Claim) -> bool:
    return _excludes(newer.value, older.value)


def _excludes_words(newer: Claim, older: Claim) -> bool:
    """Tell whether two values that are words exclude each other, whatever numbers one of them has."""
    alike = _manner(newer.value) == _manner(older.value) or "I" in {newer.value, older.value}
    if not alike and not newer.now:
        return False
    told = _words(newer.value) and _words(older.value)
    return (bool(told) and not _overlap(newer.value, older.value)) or _excludes(newer.value, older.value)


def _manner(value: str) -> str:
    """Return how a value tells: by name, as *a* something, or as *the* one. *At a bank* may be *at Pellmore Bank*."""
    if any(char.isupper() for char in value):
        return "name"
    return "kind" if re.match(r"(?:an?|some) ", value) else "thing"


def agrees(newer: Claim, older: Claim) -> bool:
    """Tell whether both say the same, one perhaps more of it."""
    if newer.ended or older.ended:
        return newer.ended == older.ended and _words(newer.value) == _words(older.value)
    if newer.attribute.startswith("state "):
        return newer.value == older.value
    if _excludes(newer.value, older.value):
        return False
    new, old = quantities(newer.value), quantities(older.value)
    return bool(new.keys() & old.keys()) if new or old else _overlap(newer.value, older.value)


def _excludes(new: str, old: str) -> bool:
    """Tell whether two values cannot both be: other numbers of one kind, or words that have nothing in common."""
    now, then = quantities(new), quantities(old)
    if _periods(new) != _periods(old) and _periods(new) and _periods(old):
        return False  # 30 a month may be 360 a year
    if now and then:
        shared = now.keys() & then.keys()
        if bool(_RECURRING.search(new)) != bool(_RECURRING.search(old)) and ("day" in now) != ("day" in then):
            return False  # "ten on Fridays" leaves the other days as they are
        if _ABOUT.match(new) or _ABOUT.match(old):
            return not _is_near(now.get("number", frozenset()), then.get("number", frozenset()))
        return any(_differs(now[kind], then[kind]) for kind in shared)
    if bool(now) != bool(then) and (now or then).keys() != {"code"}:
        return False
    return bool(_words(new)) and bool(_words(old)) and (not _overlap(new, old) or _are_variants(new, old))


def _are_variants(new: str, old: str) -> bool:
    """Tell whether two phrases are of one kind: *window seat* and *aisle seat*, *Oak Street* and *Elm Street*."""
    now, then = _told(new), _told(old)
    if len(now) == len(then) == _PAIR and now[0] == then[0]:
        return now[1] != then[1]
    return len(now) == len(then) > 1 and now[-1] == then[-1] and set(now[:-1]).isdisjoint(then[:-1])


def _told(value: str) -> list[str]:
    return [str(word) for word in _WORD.findall(value.casefold()) if word not in _STOP]


_PAIR = 2


def _differs(new: frozenset[Quantity], old: frozenset[Quantity]) -> bool:
    return not any(
        set(one.split()) <= set(other.split()) or set(other.split()) <= set(one.split()) for one in new for other in old
    )


def _periods(value: str) -> frozenset[str]:
    return frozenset(_PER.findall(value.casefold()))


_PER = re.compile(
    r"\b(?:an?|per|each|every) (hour|day|night|week|month|quarter|year|lesson|session|seat|user|person|piece)\b"
)


def _is_near(new: frozenset[Quantity], old: frozenset[Quantity]) -> bool:
    pairs = [(float(one), float(other)) for one in new for other in old]
    return any(abs(one - other) <= _NEAR * max(one, other) for one, other in pairs)


_ABOUT = re.compile(r"(?:about|around|roughly|over|almost|nearly|more than)\b")
_NEAR = 0.05
"""What is *about* so much may be this much more or less."""
_RECURRING = re.compile(r"days\b", re.IGNORECASE)


def _overlap(new: str, old: str) -> bool:
    return not _words(new).isdisjoint(_words(old))


def _words(value: str) -> frozenset[str]:
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(value.casefold()))
    return frozenset(word.strip(".'’-") for word in words) - _STOP - {""}
