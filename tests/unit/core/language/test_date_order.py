"""The order of day and month that texts show."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vicw_core.index.sparse import document_terms
from vicw_core.language.times.date_order import is_open, shown_order
from vicw_shared.ports import TermCounts, TermFrequencies


class Counted:
    """The counts of a tenant with these texts."""

    def __init__(self, *texts: str, passages: int | None = None) -> None:
        self.texts, self.passages, self.asked = texts, passages or len(texts), 0

    async def frequencies(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        assert contexts is None
        self.asked += 1
        held = [set(document_terms(text)) for text in self.texts]
        counts = {term: n for term in terms if (n := sum(term in one for one in held))}
        return TermFrequencies(tenant=TermCounts(self.passages, counts))


@pytest.mark.parametrize(
    ("text", "open_"),
    [
        ("What did I pay on 3/5/2026?", True),
        ("What did I pay on 3/5?", True),
        ("paid 3/5/26, then 4/6/26", True),
        ("paid 3/5/26, then 14/6/26", False),
        ("on 5/5/2026", False),
        ("on 13/5/2026", False),
        ("5.3.2026", False),
        ("2026/03/05", False),
        ("0/5 and 00/00/2026", False),
        ("What did I pay in March?", False),
    ],
)
def test_a_date_is_open_if_either_order_is_one(text: str, open_: bool) -> None:
    assert is_open(text) is open_


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["Paid on 25/3/2026."], True),
        (["25.03.2026, Kaffee"], True),
        (["Paid on 3/25/2026."], False),
        (["due 03/25/26"], False),
        (["25/3/2026", "3/26/2026", "27/3/2026"], True),
        (["25/3/2026", "3/26/2026"], None),
        (["25/3/1999"], None),
        (["version 13.5.2"], None),
        ([], None),
    ],
)
async def test_the_order_is_that_of_most_dates_that_have_only_one(texts: list[str], order: bool | None) -> None:
    assert await shown_order(Counted(*texts), "t", ["on 3/5/2026"], None, 2026) is order


async def test_what_is_set_or_shown_by_the_text_itself_needs_no_counts() -> None:
    counted = Counted("3/25/2026")
    assert await shown_order(counted, "t", ["on 3/5/2026"], True, 2026) is True
    assert await shown_order(counted, "t", ["in March", "on 13/5/2026"], None, 2026) is None
    assert counted.asked == 0


async def test_the_texts_of_one_request_show_the_order_of_each_other() -> None:
    assert await shown_order(Counted(), "t", ["on 3/5/2026", "on 13/5/2026", "13.6.26"], None, 2026) is True


async def test_among_many_terms_a_single_date_may_be_chance() -> None:
    assert await shown_order(Counted("25/3/2026", passages=20_000), "t", ["on 3/5/2026"], None, 2026) is None
    many = Counted(*(f"{day}/3/2026" for day in range(13, 32)), passages=20_000)
    assert await shown_order(many, "t", ["on 3/5/2026"], None, 2026) is True
