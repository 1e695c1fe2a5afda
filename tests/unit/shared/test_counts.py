"""Counts and their nouns."""

from __future__ import annotations

import pytest

from vicw_shared.text import counted


@pytest.mark.parametrize(
    ("count", "one", "many", "text"),
    [
        (0, "item", "", "0 items"),
        (1, "item", "", "1 item"),
        (2, "Chunk node", "", "2 Chunk nodes"),
        (2, "copy", "copies", "2 copies"),
    ],
)
def test_a_noun_agrees_with_its_count(count: int, one: str, many: str, text: str) -> None:
    assert counted(count, one, many) == text
