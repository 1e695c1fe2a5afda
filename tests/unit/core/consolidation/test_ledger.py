"""The ledger in a passage: what is none is refused in one way, whatever it is."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import pytest

from vicw_core.consolidation.ledger import LedgerEntry

_ITEM: dict[str, Any] = {
    "label": "Event",
    "uid": "u",
    "tenant": "t",
    "context": "c",
    "name": "n",
    "subtype": "s",
    "domain": "d",
}


def packed(told: Any) -> str:
    return base64.b85encode(zlib.compress(json.dumps(told).encode())).decode()


_NONE: list[Any] = [
    [],
    {},
    {"item": "x", "edges": [], "light": []},
    {"item": _ITEM, "edges": [], "light": []},
    {"item": {**_ITEM, "created_at": "x"}, "edges": [], "light": []},
    {"item": {**_ITEM, "created_at": 10**30}, "edges": [], "light": []},
    {"item": {**_ITEM, "created_at": 5}, "edges": [5], "light": []},
    {"item": {**_ITEM, "created_at": 5, "colour": "red"}, "edges": [], "light": []},
]


@pytest.mark.parametrize("told", _NONE)
def test_an_invalid_ledger_entry_is_refused(told: Any) -> None:
    with pytest.raises(ValueError, match=r"entry|iterable"):
        LedgerEntry.load(packed(told))


@pytest.mark.parametrize("text", ["", "é", "zz"])
def test_a_ledger_text_that_does_not_decode_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"entry|ASCII"):
        LedgerEntry.load(text)
