"""Records of counts: packed, summed up, and kept in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.ports import TermCounts, TermScope
from vicw_stores.term_counts import Checksum, TermChanges, TermRecords, TermTable, sum_of_passages

TERMS = st.integers(0, 2**32 - 1)
COUNTS = st.dictionaries(TERMS, st.integers(-(2**31) + 1, 2**31 - 1).filter(bool), max_size=20)
SCOPE = TermScope("t", "c")


def table(counts: Mapping[int, int], passages: int = 0) -> TermTable:
    terms = sorted(counts)
    return TermTable(passages, np.array(terms, np.uint32), np.array([counts[term] for term in terms], np.int32))


def as_dict(one: TermTable) -> dict[int, int]:
    return dict(zip(one.terms.tolist(), one.counts.tolist(), strict=True))


def packed(terms: set[int]) -> bytes:
    return np.array(sorted(terms), "<u4").tobytes()


@given(COUNTS, st.integers(-5, 5))
def test_a_packed_table_is_read_back(counts: dict[int, int], passages: int) -> None:
    read = TermTable.load(passages, table(counts, passages).packed())
    assert (read.passages, as_dict(read)) == (passages, counts)
    unknown = 7 if 7 not in counts else next(n for n in range(99) if n not in counts)
    wanted = np.array([unknown, *counts], np.uint32)
    assert read.counts_of(wanted).tolist() == [0, *counts.values()]


@pytest.mark.parametrize(("count", "width"), [(1, 1), (-127, 1), (128, 2), (-32767, 2), (32768, 4)])
def test_counts_take_as_little_room_as_they_need(count: int, width: int) -> None:
    assert len(table({3: count, 9: 1}).packed()) == 1 + 2 * (4 + width)


@given(st.lists(st.dictionaries(st.integers(0, 9), st.integers(-3, 3).filter(bool))))
def test_a_sum_has_no_term_whose_counts_cancel_out(parts: list[dict[int, int]]) -> None:
    expected: Counter[int] = Counter()
    for part in parts:
        for term, n in part.items():
            expected[term] += n
    summed = TermTable.sum([TermTable(), *(table(part, 1) for part in parts)])
    assert as_dict(summed) == {term: n for term, n in expected.items() if n}
    assert summed.passages == len(parts)


def test_changes_are_the_differences_of_a_context_and_its_tenant() -> None:
    changes = TermChanges()
    changes.add("t", "a", None, packed({1, 2}))
    changes.add("t", "b", packed({2, 3}), packed({3, 4}))
    changes.add("t", "b", packed({5}), b"")
    changes.add("t", "c", packed({6}), packed({6}))
    changes.add("t", "c", None, b"")
    tables = {scope: (one.passages, as_dict(one)) for scope, one in changes.tables().items()}
    assert tables == {
        TermScope("t", ""): (0, {1: 1, 4: 1, 5: -1}),
        TermScope("t", "a"): (1, {1: 1, 2: 1}),
        TermScope("t", "b"): (-1, {2: -1, 4: 1, 5: -1}),
    }


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sets(st.integers(0, 9), min_size=1)), max_size=8))
def test_the_checksum_finds_every_scope_that_differs(passages: list[tuple[str, set[int]]]) -> None:
    rows = [("t", context, packed(terms)) for context, terms in passages]
    whole = sum_of_passages(terms for *_, terms in rows)
    checksum = Checksum()
    checksum.add_passages(rows)
    for context in "ab":
        checksum.subtract(TermScope("t", context), sum_of_passages(terms for _, name, terms in rows if name == context))
    assert checksum.wrong() == ([TermScope("t", "")] if rows else [])
    checksum.subtract(TermScope("t", ""), whole)
    assert checksum.wrong() == []
    checksum.subtract(SCOPE, table({3: 1}))
    assert checksum.wrong() == [SCOPE]


def test_records_are_read_once_and_the_scopes_asked_last_are_kept() -> None:
    stored: dict[object, TermTable] = {n: table(dict.fromkeys(range(100), 1), 1) for n in range(9)}
    read: list[list[object]] = []

    def fetch(ids: Sequence[object]) -> Mapping[object, TermTable]:
        read.append(list(ids))
        return {record: stored[record] for record in ids}

    records = TermRecords(max_bytes=3 * stored[0].nbytes)
    assert records.counts({SCOPE: [0, 1]}, fetch, [5, 100]) == [TermCounts(2, {5: 2})]
    assert records.counts({SCOPE: [0, 1, 2]}, fetch, [5]) == [TermCounts(3, {5: 3})]
    assert records.counts({SCOPE: [2, 3]}, fetch, [5]) == [TermCounts(2, {5: 2})], "two were merged into others"
    assert read == [[0, 1], [2], [3]]
    assert sorted(map(str, records.known([SCOPE]))) == ["2", "3"]
    other = TermScope("t", "other")
    records.counts({other: [4, 5]}, fetch, [5])
    assert records.known([SCOPE]) == [], "there is no room for it"
    assert records.counts({SCOPE: []}, fetch, [5]) == [TermCounts(0, {})]
