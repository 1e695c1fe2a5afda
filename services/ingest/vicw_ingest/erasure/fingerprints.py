"""Fingerprints: hashes that find an erased text in any bytes without storing the text.

They hash windows of 32 bytes; of a shorter text the first and the last window of 16 or 8 bytes, and its length.
Windows are hashed by a polynomial modulo 2**64 (Karp and Rabin, 1987), at all offsets of a block at once.
"""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from vicw_core.index import sparse
from vicw_core.index.full_text import text_words
from vicw_shared.clock import to_us
from vicw_shared.model import Node
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid

MIN_BYTES = 12
"""Minimum length of a text in bytes: a shorter one occurs inside other words."""
WINDOW = 32
_MAX_WINDOWS = 16
_STRIDE = 16
_MASK = 2**64 - 1
_WIDTHS = (8, 16, WINDOW)
_FILTER_BITS = 20
_FILTER_SHIFT = np.uint64(64 - _FILTER_BITS)

type Mark = tuple[int, int, int]
"""Hashes of a short text's first and last window, and its length; or the hash of a window of 32 bytes, then 0, 0."""
type _Hashes = NDArray[np.uint64]


def new_key() -> int:
    """Return a new key for ``Fingerprints``: marks of different keys cannot be compared."""
    return secrets.randbits(64) | 1


def spellings(text: str) -> set[bytes]:
    """Return the byte forms in which VICW may store a text: plain, in JSON, case-folded, as the words of full texts.

    Names and summaries contain its words in one line. Until a store of an earlier version is converted, it
    has their stems.
    """
    plain = {text, " ".join(text.split())}
    quoted = {json.dumps(form, ensure_ascii=narrow)[1:-1] for form in plain for narrow in (True, False)}
    words = (fold_case(text), text_words(text), " ".join(sparse.stems(text)))
    return {form.encode() for form in (*plain, *quoted, *words)}


def id_spellings(uid: str) -> set[bytes]:
    """Return the byte forms of a uid."""
    return {uid.encode(), UUID(uid).bytes}


def creation_uid(node: Node) -> str:
    """Return a uid of a node's creation: removing and storing the node again keeps its uid, but changes this one."""
    return make_uid("birth", node.uid, str(to_us(node.created_at)))


@dataclass(slots=True)
class Fingerprints:
    """Marks of texts, all with one ``key``."""

    key: int
    marks: set[Mark] = field(default_factory=set)

    def add_text(self, text: str) -> None:
        """Add a text in all its forms; forms shorter than MIN_BYTES are left out."""
        for form in spellings(text):
            self._add(form)

    def add_uid(self, uid: str) -> None:
        """Add a uid."""
        for form in id_spellings(uid):
            self._add(form)

    def dump(self) -> dict[str, str]:
        """Return the marks as JSON fields."""
        rows = np.array(sorted(self.marks), np.uint64).reshape(-1, 3)
        return {"key": f"{self.key:x}", "marks": base64.b85encode(rows.tobytes()).decode()}

    @classmethod
    def load(cls, fields: Mapping[str, object]) -> Fingerprints:
        """Parse the output of ``dump``."""
        rows = np.frombuffer(base64.b85decode(str(fields["marks"])), np.uint64).reshape(-1, 3)
        return cls(int(str(fields["key"]), 16), {(int(a), int(b), int(c)) for a, b, c in rows})

    def _add(self, data: bytes) -> None:
        length = len(data)
        if length < MIN_BYTES:
            return
        width = _width(length)
        hashes = dict(_hashes(np.frombuffer(data, np.uint8), self.key))[width]
        if width < WINDOW:
            self.marks.add((int(hashes[0]), int(hashes[-1]), length))
            return
        count = min(_MAX_WINDOWS, -(-(length - WINDOW) // _STRIDE) + 1)
        self.marks |= {(int(hashes[place]), 0, 0) for place in np.linspace(0, len(hashes) - 1, count).astype(int)}


class FingerprintFinder:
    """Searches blocks of bytes for marks; built once, used for many blocks."""

    def __init__(self, fingerprints: Fingerprints) -> None:
        self._key = fingerprints.key
        self._marks: dict[int, dict[int, list[Mark]]] = {}
        for mark in fingerprints.marks:
            self._marks.setdefault(_width(mark[2] or WINDOW), {}).setdefault(mark[0], []).append(mark)
        self._filters = {width: _Filter(hashes) for width, hashes in self._marks.items()}

    def find(self, data: bytes) -> set[Mark]:
        """Return the marks found in a block of bytes."""
        block = np.frombuffer(data, np.uint8)
        if not self._marks or not block.any():
            return set()
        marks: set[Mark] = set()
        for width, hashes in _hashes(block, self._key):
            if width in self._marks:
                marks |= self._find_width(width, hashes)
        return marks

    def _find_width(self, width: int, hashes: _Hashes) -> set[Mark]:
        marks, matches = self._marks[width], set[Mark]()
        for place in self._filters[width].places(hashes):
            for mark in marks[int(hashes[place])]:
                last = int(place) + mark[2] - width
                if not mark[2] or (last < len(hashes) and int(hashes[last]) == mark[1]):
                    matches.add(mark)
        return matches


def _width(length: int) -> int:
    return max(width for width in _WIDTHS if width <= length)


class _Filter:
    """Finds some hashes among many: by their first bits, and those that pass in a sorted list.

    A thousand erased texts have some ten thousand windows: of 16 bits as many would leave none out.
    """

    def __init__(self, hashes: Iterable[int]) -> None:
        self._sorted = np.array(sorted(hashes), np.uint64)
        self._first_bits = np.zeros(2**_FILTER_BITS, np.bool_)
        self._first_bits[self._sorted >> _FILTER_SHIFT] = True

    def places(self, hashes: _Hashes) -> NDArray[np.intp]:
        """Return where the hashes are that are wanted."""
        passed = np.flatnonzero(self._first_bits[hashes >> _FILTER_SHIFT])
        nearest = np.searchsorted(self._sorted, hashes[passed]).clip(max=len(self._sorted) - 1)
        found: NDArray[np.intp] = passed[self._sorted[nearest] == hashes[passed]]
        return found


def _hashes(block: NDArray[np.uint8], key: int) -> Iterator[tuple[int, _Hashes]]:
    """Yield each width of 8, 16 and 32 bytes that fits into the block, with the hashes of all its windows."""
    hashes, power, width = block.astype(np.uint64) + np.uint64(1), key, 1
    while 2 * width <= min(len(block), WINDOW):
        hashes = hashes[:-width] * np.uint64(power) + hashes[width:]
        power, width = power * power & _MASK, 2 * width
        if width in _WIDTHS:
            yield width, hashes
