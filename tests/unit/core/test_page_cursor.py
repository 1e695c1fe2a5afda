"""Cursors: they come back as they were written, and only for the request and the tenant that they were written for."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.page_cursor import fingerprint_of, read_cursor, write_cursor
from vicw_shared.errors import InvalidInputError

_FINGERPRINT = fingerprint_of("t", "items", {"context": "a"})
_VALUES = st.none() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | st.text()


@given(st.lists(_VALUES, max_size=5))
def test_a_place_comes_back(place: list[str | int | float | None]) -> None:
    assert read_cursor(write_cursor(place, _FINGERPRINT), _FINGERPRINT, len(place)) == place


@pytest.mark.parametrize(
    "other",
    [
        fingerprint_of("u", "items", {"context": "a"}),
        fingerprint_of("t", "audit", {"context": "a"}),
        fingerprint_of("t", "items", {"context": "b"}),
        fingerprint_of("t", "items", {"context": "a", "limit": 3}),
    ],
)
def test_a_cursor_of_another_request_is_refused(other: str) -> None:
    with pytest.raises(InvalidInputError, match="belongs to another request") as refused:
        read_cursor(write_cursor((1,), other), _FINGERPRINT, 1, "after")
    assert [problem.field for problem in refused.value.problems] == ["after"]


def test_free_fields_may_change() -> None:
    assert fingerprint_of("t", "items", {"context": "a", "limit": 3}, {"limit"}) == _FINGERPRINT


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


@pytest.mark.parametrize(
    "wrong",
    ["", "x", "ä", "=", _encoded(3), _encoded({}), _encoded([]), _encoded([_FINGERPRINT]), _encoded([_FINGERPRINT, []]),
     _encoded([_FINGERPRINT, 1, 2]), _encoded([_FINGERPRINT, "\ud800"]), base64.b64encode(b"[" * 100_000).decode()],
    ids=lambda wrong: wrong[:20],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="is no cursor"):
        read_cursor(wrong, _FINGERPRINT, 1)
