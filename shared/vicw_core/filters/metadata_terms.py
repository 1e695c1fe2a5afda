"""Values of metadata as text that sorts as they do, so that every store compares them alike.

A term is the key, a separator, the type, and the value: its text, or for a number the 16 hexadecimal digits of its
float, rearranged so that they sort by size.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from vicw_core.filters.predicate import as_float
from vicw_shared.ports.item_filter import Between, Scalar

_NUMBER, _TEXT, _FLAG = "n", "s", "b"
_SEPARATOR, _ESCAPE = "\x01", "\x01\x02"
"""The separator, and how a key's own is written. It is no NUL, which SQLite's JSON cannot have."""
_SIGN, _ALL = 1 << 63, (1 << 64) - 1


def metadata_terms(metadata: Mapping[str, object]) -> list[str]:
    """Return the terms of an item's metadata: of each key that it has, and of each of the key's values."""
    terms: list[str] = []
    for key, held in metadata.items():
        if held is not None:
            terms.append(presence_term(key))
            values = held if isinstance(held, list) else [held]
            terms += [value_term(key, value) for value in values if isinstance(value, str | int | float)]
    return terms


def presence_term(key: str) -> str:
    """Return the term of all metadata with a key that is not null."""
    return key.replace(_SEPARATOR, _ESCAPE) + _SEPARATOR


def value_term(key: str, value: Scalar) -> str:
    """Return the term of a value."""
    return presence_term(key) + _sortable(value)


def range_of(key: str, bounds: Between) -> tuple[str, str, bool, bool]:
    """Return the lowest and the highest term inside some bounds, and whether each of them belongs to it."""
    given = bounds.low or bounds.high
    assert given is not None, "a range has a bound"
    kind = _TEXT if isinstance(given[0], str) else _NUMBER
    low, with_low = (_sortable(bounds.low[0]), bounds.low[1]) if bounds.low is not None else (kind, True)
    after = chr(ord(kind) + 1)
    high, with_high = (_sortable(bounds.high[0]), bounds.high[1]) if bounds.high is not None else (after, False)
    start = presence_term(key)
    return start + low, start + high, with_low, with_high


def _sortable(value: Scalar) -> str:
    if isinstance(value, bool):
        return f"{_FLAG}{value:d}"
    if isinstance(value, str):
        return _TEXT + value
    (bits,) = struct.unpack(">Q", struct.pack(">d", as_float(value) + 0.0))  # -0.0 is 0.0
    return f"{_NUMBER}{(bits ^ _ALL) if bits & _SIGN else (bits | _SIGN):016x}"
