"""Pages: never more than a hundred atoms, and a change moves few of the cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.uids import make_uid
from vicw_sleep.mirror.atoms import Place
from vicw_sleep.mirror.pagination import paginate


def places(count: int) -> list[Place]:
    return [(n, 0, make_uid(str(n))) for n in range(count)]


@given(st.integers(0, 2000))
def test_pages_are_a_bundle_cut_into_parts_of_a_hundred_at_most(count: int) -> None:
    pages = list(paginate(places(count)))
    assert [place for page in pages for place in page] == places(count)
    assert all(50 <= len(page) <= 100 for page in pages[:-1])
    assert all(len(page) <= 100 for page in pages)


@given(st.integers(0, 4999))
def test_an_atom_that_goes_changes_pages_near_it_only(gone: int) -> None:
    whole = places(5000)
    before = set(map(tuple, paginate(whole)))
    after = set(map(tuple, paginate(whole[:gone] + whole[gone + 1 :])))
    assert len(after - before) <= 12
