"""Counts of terms as records that are added up: packed tables, when they are merged, and their copy in memory.

A write adds one record for each context and tenant that it changes, with the differences. MERGED records of one level
become one of the next, so that a count is read from few records, and is written as often as there are levels. Records
never change, so those in memory stay right.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vicw_core.index.points import terms_of
from vicw_shared.ports import MAX_CONTEXTS, PendingPoint, TermCounts, TermFrequencies, TermScope

MERGED = 4
"""Number of records of one level that become one of the next."""
_MAX_BYTES = 64 * 2**20
"""Maximum size of the records in memory."""
_TERM = np.dtype("<u4")
_WIDTHS: dict[int, np.dtype[np.signedinteger]] = {1: np.dtype("<i1"), 2: np.dtype("<i2"), 4: np.dtype("<i4")}


@dataclass(frozen=True, slots=True)
class TermTable:
    """Counts of ``passages`` and of distinct ``terms``, ascending, of shape (n,) each. Differences may be negative."""

    passages: int = 0
    terms: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    counts: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @classmethod
    def sum(cls, tables: Sequence[Self]) -> TermTable:
        """Return the sum of tables, without the terms whose counts have cancelled out."""
        terms, places = np.unique(np.concatenate([table.terms for table in tables]), return_inverse=True)
        counts = np.bincount(places, np.concatenate([table.counts for table in tables]), len(terms)).astype(np.int32)
        kept = counts != 0
        return TermTable(sum(table.passages for table in tables), terms[kept], counts[kept])

    @classmethod
    def load(cls, passages: int, packed: bytes) -> TermTable:
        """Unpack the output of ``packed``."""
        width = packed[0]
        size = (len(packed) - 1) // (width + _TERM.itemsize)
        terms = np.frombuffer(packed, _TERM, size, 1)
        counts = np.frombuffer(packed, _WIDTHS[width], size, 1 + terms.nbytes)
        return TermTable(passages, terms, counts.astype(np.int32))

    def packed(self) -> bytes:
        """Return the terms and counts in five bytes each if no count is over 127, in eight at most."""
        most = int(np.abs(self.counts).max(initial=0))
        width = 1 if most < 2**7 else 2 if most < 2**15 else 4
        counts = self.counts.astype(_WIDTHS[width]).tobytes()
        return b"".join((bytes([width]), self.terms.astype(_TERM).tobytes(), counts))

    def counts_of(self, terms: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Return the counts of these terms, of the same shape."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[places] == terms, self.counts[places], 0)

    @property
    def is_empty(self) -> bool:
        """Whether the table changes nothing."""
        return not self.passages and not len(self.terms)

    @property
    def level(self) -> int:
        """The level of a record of so many passages that was merged of records of one each."""
        return max(0, math.ceil(math.log(max(self.passages, 1), MERGED)))

    @property
    def nbytes(self) -> int:
        """Size in memory, about."""
        return self.terms.nbytes + self.counts.nbytes + 200


def scopes_of(tenant: str, contexts: Sequence[str] | None) -> list[TermScope]:
    """Return the scopes whose counts a question in these contexts (None: all) needs: the tenant's first."""
    whole = TermScope(tenant, "")
    if contexts is None or len(contexts) > MAX_CONTEXTS:
        return [whole]
    return [whole, *(TermScope(tenant, context) for context in dict.fromkeys(contexts))]


def frequencies_of(counts: Sequence[TermCounts]) -> TermFrequencies:
    """Return the frequencies from the counts of ``scopes_of``."""
    tenant, *contexts = counts
    if not contexts:
        return TermFrequencies(tenant, tenant)
    if len(contexts) == 1:
        return TermFrequencies(contexts[0], tenant)
    sums: Counter[int] = Counter()
    for one in contexts:
        sums.update(one.counts)
    return TermFrequencies(TermCounts(sum(one.passages for one in contexts), sums), tenant)


def wrong_terms(points: Sequence[PendingPoint], stored: Mapping[str, bytes | None]) -> set[str]:
    """Return the passages (uids) whose stored terms are not those of their text."""
    return {point.point_id for point in points if (stored.get(point.point_id) or b"") != packed_terms(point)}


def packed_terms(point: PendingPoint) -> bytes:
    """Return what is stored of a passage: its distinct terms, ascending; of one that does not count nothing."""
    return np.unique(np.array(terms_of(point), _TERM)).tobytes()


@dataclass(slots=True)
class TermChanges:
    """Sums up the differences that changed passages make to the counts of their contexts and tenants."""

    _parts: dict[TermScope, list[tuple[int, NDArray[np.uint32]]]] = field(default_factory=dict)

    @property
    def scopes(self) -> list[TermScope]:
        """The contexts and tenants of all passages that were added, in order, changed or not."""
        return sorted(self._parts)

    def add(self, tenant: str, context: str, old: bytes | None, new: bytes) -> None:
        """Add a passage whose packed terms were ``old`` (None or empty: it did not count) and are ``new``."""
        changed = [] if (old or b"") == new else [(-1, old), (1, new)]
        for scope in scopes_of(tenant, [context]):
            parts = self._parts.setdefault(scope, [])
            parts += [(sign, np.frombuffer(terms, _TERM)) for sign, terms in changed if terms]

    def tables(self) -> dict[TermScope, TermTable]:
        """Return the differences, in a fixed order of scopes."""
        tables = {
            scope: TermTable.sum(
                [TermTable(sign, terms, np.full(len(terms), sign, np.int32)) for sign, terms in self._parts[scope]]
            )
            for scope in self.scopes
            if self._parts[scope]
        }
        return {scope: table for scope, table in tables.items() if not table.is_empty}


def sum_of_passages(packed: Iterable[bytes]) -> TermTable:
    """Return the counts that passages with these packed terms make."""
    counted = [terms for terms in packed if terms]
    terms, counts = np.unique(np.frombuffer(b"".join(counted), _TERM), return_counts=True)
    return TermTable(len(counted), terms, counts.astype(np.int32))


class Checksum:
    """Compares counts with their passages by Σ count × hash(term) modulo 2⁶⁴ in each scope, so in little memory."""

    def __init__(self) -> None:
        self._sums: dict[TermScope, tuple[int, int]] = {}

    def add_passages(self, passages: Sequence[tuple[str, str, bytes]]) -> None:
        """Add passages that count: tenant, context and packed terms of each."""
        hashes = _hashes(np.frombuffer(b"".join(packed for *_, packed in passages), _TERM))
        ends = np.cumsum([len(packed) // _TERM.itemsize for *_, packed in passages])
        sums = np.add.reduceat(hashes, np.concatenate(([0], ends[:-1]))) if len(ends) else hashes
        for (tenant, context, _), total in zip(passages, sums, strict=True):
            for scope in scopes_of(tenant, [context]):
                self._add(scope, 1, int(total))

    def subtract(self, scope: TermScope, table: TermTable) -> None:
        """Subtract a record."""
        weighed = _hashes(table.terms) * table.counts.astype(np.int64).view(np.uint64)
        self._add(scope, -table.passages, -int(weighed.sum(dtype=np.uint64)))

    def wrong(self) -> list[TermScope]:
        """Return the scopes in which passages and records differ, in order."""
        return sorted(scope for scope, sums in self._sums.items() if sums != (0, 0))

    def _add(self, scope: TermScope, passages: int, total: int) -> None:
        before = self._sums.get(scope, (0, 0))
        self._sums[scope] = before[0] + passages, (before[1] + total) % 2**64


def _hashes(terms: NDArray[np.uint32]) -> NDArray[np.uint64]:
    mixed = terms.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)  # splitmix64
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


class TermRecords:
    """Records of counts in memory, by scope and id, the scopes asked last."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._scopes: OrderedDict[TermScope, dict[object, TermTable]] = OrderedDict()
        self._bytes = 0
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def known(self, scopes: Iterable[TermScope]) -> list[object]:
        """Return the ids of the records of these scopes."""
        with self._lock:
            return [record for scope in scopes for record in self._scopes.get(scope, ())]

    def counts(
        self,
        listed: Mapping[TermScope, Sequence[object]],
        read: Callable[[Sequence[object]], Mapping[object, TermTable]],
        terms: Sequence[int],
    ) -> list[TermCounts]:
        """Return the counts of each scope, in order. ``listed`` are the ids of its records; ``read`` reads records."""
        wanted = np.array(terms, np.uint32)
        return [_counts(tables, wanted) for tables in self._tables(listed, read)]

    def _tables(
        self,
        listed: Mapping[TermScope, Sequence[object]],
        read: Callable[[Sequence[object]], Mapping[object, TermTable]],
    ) -> list[list[TermTable]]:
        with self._lock:
            known = {record: one for scope in listed for record, one in self._scopes.get(scope, {}).items()}
        missing = [record for ids in listed.values() for record in ids if record not in known]
        if missing:
            known |= read(missing)
        return [self._keep(scope, {record: known[record] for record in ids}) for scope, ids in listed.items()]

    def _keep(self, scope: TermScope, tables: dict[object, TermTable]) -> list[TermTable]:
        with self._lock:
            before = self._scopes.pop(scope, {})
            self._scopes[scope] = tables
            self._bytes += sum(t.nbytes for t in tables.values()) - sum(t.nbytes for t in before.values())
            while self._bytes > self._max_bytes and len(self._scopes) > 1:
                _, dropped = self._scopes.popitem(last=False)
                self._bytes -= sum(table.nbytes for table in dropped.values())
        return list(tables.values())


def _counts(tables: Sequence[TermTable], terms: NDArray[np.uint32]) -> TermCounts:
    sums = sum((table.counts_of(terms) for table in tables), np.zeros(len(terms), np.int64))
    counts = {int(term): int(n) for term, n in zip(terms, sums, strict=True) if n > 0}
    return TermCounts(sum(table.passages for table in tables), counts)
