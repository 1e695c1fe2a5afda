"""A store and an export of an earlier build: opened and restored, both are sound and answer as they did then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from earlier.make import ANSWERS, of_export, of_store, recorded
from earlier.questions import differences

FROZEN = sorted(path.parent for path in (Path(__file__).parents[2] / "earlier").glob(f"*/{ANSWERS}"))

type Look = Callable[[Path, Path], Awaitable[dict[str, Any]]]


@pytest.mark.parametrize(("what", "look"), [("store", of_store), ("export", of_export)], ids=["store", "export"])
@pytest.mark.parametrize("folder", FROZEN, ids=lambda folder: folder.name)
async def test_a_store_of_an_earlier_build_is_sound_and_answers_as_before(
    folder: Path, what: str, look: Look, store: Path
) -> None:
    then, now = recorded(folder)[what], await look(folder, store.parent)
    assert now["holds"]["violations"] == []
    assert differences({"holds": then["holds"]}, {"holds": now["holds"]}) == {}
    assert differences(then["answers"], now["answers"], restored=what == "export") == {}


@pytest.mark.parametrize("folder", FROZEN, ids=lambda folder: folder.name)
@pytest.mark.parametrize("what", ["store", "export"])
def test_what_rules_of_an_earlier_build_superseded_is_found_again(folder: Path, what: str) -> None:
    now = recorded(folder)[what]["answers"]["now"]
    assert [result["id"] for result in now["results"]][:2] == ["n3", "n1"], "the later one first"
    assert "I live in Lyon. until 2025-03-14; since then: I moved to Porto." in now["text"]
