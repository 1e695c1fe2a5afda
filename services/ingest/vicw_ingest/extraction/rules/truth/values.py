"""The numbers, prices, days and times of a value, by their kinds."""

from __future__ import annotations

import re
from collections import defaultdict

type Quantity = str

_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen "
        "eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100", "dozen": "12", "no": "0"}
NUMBER = r"(?<![\w.])(?i:\d[\d,]*(?:\.\d+)?k?|" + "|".join(_NUMBERS) + r")\b"
MONEY = (
    rf"(?i:[$€£¥]\s?{NUMBER}|{NUMBER}\s?(?:dollars?|euros?|pounds?|francs?|yen|cents?|usd|eur|gbp|chf|€|coins?|"
    rf"coppers?|silvers?|crowns?|bucks))"
)
_DAY = r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
_MONTH = (
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|"
    r"jul|aug|"
    r"sept?|oct|nov|dec)\b"
)
_MAY = rf"(?:{_MONTH}|\bmay\b)"
_CLOCK = r"(?:\d{1,2}:\d\d(?:\s?[ap]\.?m\.?)?|\d{1,2}\s?[ap]\.?m\.?(?!\w)|noon|midnight)"
_DATE = (
    rf"(?:\d{{4}}-\d\d-\d\d|{_MAY}\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MAY}|"
    rf"\d{{1,2}}(?:st|nd|rd|th)\b(?! (?:floor|street|avenue|time|place|edition|version|attempt|try|grade|year|row|"
    rf"and))|"
    rf"{_MONTH})"
)
HOUR = (
    r"(?:half past |quarter (?:past|to) )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"\d{1,2})\b(?! (?!(?:now|these|instead|today|on|and|every|from|because|sharp|this|until|since|in|for|again|"
    r"as|but|after)\b)\w|"
    r"[.,:]?\d|\s?[$€£%])"
)
TIME = rf"(?i:{_CLOCK}|{_DAY}|{_DATE}|at {HOUR}|(?:mornings?|afternoons?|evenings?|spring|summer|autumn|winter)\b)"
_KINDS = (
    ("clock", re.compile(rf"{_CLOCK}|at {HOUR}", re.IGNORECASE)),
    ("day", re.compile(_DAY, re.IGNORECASE)),
    ("date", re.compile(_DATE, re.IGNORECASE)),
    (
        "code",
        re.compile(
            r"(?<![\w.])(?:v\d+(?:\.\d+){0,3}|\d+(?:\.\d+){2,3}|\d+\.(?:\d|\d{3,}))(?![\w.])|"
            r"\+?\b\d+(?:[-/]\d+)+\b|\b[A-Za-z]+[\w.]*[-_/]?\d+[\w.-]*\b"
        ),
    ),
    ("number", re.compile(NUMBER, re.IGNORECASE)),
)


def quantities(value: str) -> dict[str, frozenset[Quantity]]:
    """Return what a value counts, by kind: a price is a number; nothing is of two kinds.

    >>> quantities("Friday at 3pm")
    {'clock': frozenset({'900'}), 'day': frozenset({'friday'})}
    """
    found: dict[str, set[Quantity]] = defaultdict(set)
    for kind, pattern in _KINDS:
        for match in pattern.finditer(value):
            found[kind].add(_plain(kind, match[0]))
        value = pattern.sub(" ", value)
    return {kind: frozenset(each) for kind, each in found.items()}


def _plain(kind: str, text: str) -> Quantity:
    text = text.casefold().strip()
    if kind == "number":
        text = text.replace(",", "")
        text = _NUMBERS.get(text, text)
        text = str(float(text[:-1]) * 1000) if text.endswith("k") else text
        return f"{float(text):g}"
    if kind == "day":
        return text.removesuffix("s")
    if kind == "clock":
        return _minutes(text)
    if kind == "date":
        return _date(text)
    return text


def _date(text: str) -> Quantity:
    """Return a date as its day, then its month, as far as it has them; the year is left out."""
    if iso := re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", text):
        return f"{int(iso[2])} {_MONTHS[int(iso[1]) - 1]}"
    day, month = re.search(r"\d{1,2}", text), re.search(r"[a-z]{3,}", re.sub(r"(?<=\d)(?:st|nd|rd|th)", "", text))
    return f"{int(day[0]) if day else ''} {month[0][:3] if month else ''}".strip()


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def _minutes(text: str) -> Quantity:
    """Return a time of the day in minutes. What is before seven and says nothing else is of the afternoon."""
    text = text.removeprefix("at ").replace(".", "")
    if text in {"noon", "midnight"}:
        return "720" if text == "noon" else "0"
    past = 30 if text.startswith("half past") else 15 if text.startswith("quarter past") else 0
    past -= 15 if text.startswith("quarter to") else 0
    found = re.search(r"(\d{1,2}|[a-z]+)(?::(\d\d))?\s?([ap])?m?$", text)
    if found is None:
        return text
    hour = int(_NUMBERS.get(found[1], found[1])) if found[1].isdigit() or found[1] in _NUMBERS else 0
    if (found[3] == "p" and hour < _NOON) or (found[3] is None and found[2] is None and hour < _MORNING):
        hour += _NOON
    return str(60 * hour + int(found[2] or 0) + past)


_NOON, _MORNING = 12, 7
