"""The order of day and month that a tenant's texts show, for dates with slashes that nothing else decides.

A date that can be read in one order only (25/3/2026, 25.3.2026, 3/25/2026) is a term of the texts that have it, and the
counts of terms say in how many passages it is. So nothing more is stored, and both stores answer alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from vicw_core.index.words.analyser import term_id
from vicw_shared.ports import TermCounts, TermStatistics

_SLASHED = re.compile(r"(?<![\d/.,])(\d{1,2})/(\d{1,2})(?:/(?:\d{4}|\d\d))?(?![\d/])")
_SHOWN = re.compile(r"(?<![\d/.,])(\d{1,2})([/.])(\d{1,2})\2(?:\d{4}|\d\d)(?![\d/])")
_YEARS_BACK = 4
_VOCABULARY = 60
"""Terms of a passage, about, and of all passages ``_MOST_TERMS``: among so many, some have the id of a date."""
_MOST_TERMS = 500_000


def is_open(text: str) -> bool:
    """Return whether a text has a date with slashes that is one in either order, and none that shows the order."""
    found = [(int(first), int(second)) for first, second in _SLASHED.findall(text)]
    if any(first > 12 >= second > 0 or second > 12 >= first > 0 for first, second in found):
        return False
    return any(0 < first <= 12 and 0 < second <= 12 and first != second for first, second in found)


async def shown_order(
    statistics: TermStatistics, tenant: str, texts: Sequence[str], day_first: bool | None, year: int
) -> bool | None:
    """Return the order for these texts: as set, ``day_first``, else as the tenant's texts show it; None: they do not.

    True is the day first. Dates of four years before ``year`` to one after it are counted, each once, those of the
    texts themselves among them; more of one order than of the other decide. The statistics are asked only if a text
    leaves its order open. Raises the store's errors.
    """
    if day_first is not None or not any(map(is_open, texts)):
        return day_first
    by_day, by_month = _terms(year)
    counted = (await statistics.frequencies(tenant, None, [*by_day, *by_month])).tenant
    days, months = (sum(1 for term in terms if term in counted.counts) for terms in (by_day, by_month))
    for first, mark, second in {date for text in texts for date in _SHOWN.findall(text)}:
        days += int(first) > 12 >= int(second) > 0
        months += int(second) > 12 >= int(first) > 0 and mark == "/"
    if abs(days - months) <= _by_chance(counted, len(by_day) + len(by_month)):
        return None
    return days > months


def _by_chance(counted: TermCounts, asked: int) -> int:
    """Return how many other terms may have the id of a date: four times as many as to be expected."""
    return int(4 * asked * min(_VOCABULARY * counted.passages, _MOST_TERMS) / 2**32)


@lru_cache(maxsize=8)
def _terms(year: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of all dates about a year that can only have the day first, and of those with the month first."""
    by_day: dict[int, None] = {}
    by_month: dict[int, None] = {}
    years = [form for one in range(year - _YEARS_BACK, year + 2) for form in (f"{one:04}", f"{one % 100:02}")]
    for form in years:
        for month in range(1, 13):
            for name in dict.fromkeys((str(month), f"{month:02}")):
                for day in range(13, 32):
                    by_day |= {term_id(f"{day}/{name}/{form}"): None, term_id(f"{day}.{name}.{form}"): None}
                    by_month[term_id(f"{name}/{day}/{form}")] = None
    return tuple(by_day), tuple(by_month)
