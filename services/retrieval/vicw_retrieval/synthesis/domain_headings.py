"""What the text says of an ambiguous question: one line, and a heading for the results of each domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_retrieval.synthesis.page import Guard, TextBlock, TextPage
from vicw_shared.text import one_fact
from vicw_shared.wire.answer_format import AMBIGUOUS_LINE, DOMAIN_HEADING
from vicw_shared.wire.retrieve import Result


def headings_of(groups: Sequence[str], results: Sequence[Result], guard: Guard) -> dict[str, str]:
    """Return the heading of each domain of ``groups`` that has results, by rank; {} unless there are several."""
    found = dict.fromkeys(result.domain for result in results if result.domain in groups)
    return {name: guard(DOMAIN_HEADING.format(domain=one_fact(name))) for name in found} if len(found) > 1 else {}


def ambiguous_line(domains: Sequence[str], guard: Guard) -> str:
    """Return the line that says that these domains are kept apart; "" without any."""
    names = ", ".join(map(one_fact, domains))
    return guard(AMBIGUOUS_LINE.format(domains=names)) if domains else ""


def place_headings(
    page: TextPage, headings: Mapping[str, str], results: Sequence[Result], places: Mapping[int, tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    """Add the headings of the domains on the page, for which there has to be room; return their places."""
    on_page, added = page.ranks, {}
    for number, (domain, heading) in enumerate(headings.items(), start=1):
        if ranks := [result.rank for result in results if result.domain == domain and result.rank in on_page]:
            page.chosen.append(TextBlock(-number, 0, heading))
            added[-number] = (min(places[rank][0] for rank in ranks), -1)
    return added
