"""Quantities in a claimed value: numbers, days, dates, times of day and codes."""

from __future__ import annotations

import re

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
