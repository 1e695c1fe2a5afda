"""What is erased while the sleep cycle is at work on it: nothing of it comes back by what was read before."""

from __future__ import annotations

from typing import Any

import pytest

from contract.erasure.test_erasure import TAG, eraser, everything, find_residue
from contract.erasure.test_erasure import side as side
from contract.erasure.test_eviction import run_eviction, turns_of_importance
from contract.sleep.test_consolidation import sound, tell
from contract.sleep.test_consolidation_job import LATER, RULES, consolidation, turns
from contract.sleep.test_dreams import STORM, item, tags_of
from contract.sleep.test_dreams import run as dream_of
from contract.sleep.test_dreams import tell as note_down
from support.stores.pairs import Side
from vicw_ingest.erasure.record import fingerprints_of
from vicw_ingest.erasure.selection import choose_items
from vicw_shared.ports import Steps

_SECRET = "We talked about the vermilion lockbox of Halde in round 3."


async def _erase(side: Side, *ids: str) -> str:
    erasing = eraser(side)
    erasure = await erasing.begin(await choose_items(side.graph, "t", ids, None))
    await erasing.run(erasure)
    return erasure


def _erased_at_the_next_write(side: Side, patch: pytest.MonkeyPatch, *ids: str, before: bool = True) -> list[str]:
    """Erase before the next write of somebody else, or right after it; return where the erasure will be."""
    write, erasures = side.graph.write, list[str]()

    async def meanwhile(*asked: Any) -> Any:
        patch.undo()
        if before:
            erasures.append(await _erase(side, *ids))
            return await write(*asked)
        done = await write(*asked)
        erasures.append(await _erase(side, *ids))
        return done

    patch.setattr(side.graph, "write", meanwhile)
    return erasures


async def _assert_erased(side: Side, erasures: list[str], *words: str) -> None:
    await sound(side)
    told = await everything(side)
    assert [word for word in words if word in told] == []
    (erasure,) = erasures
    assert await find_residue(side, await fingerprints_of(side.graph.erasures, erasure)) == []


async def test_a_dream_spreads_no_tag_of_an_item_erased_meanwhile(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    await note_down(side, item(0, f"{STORM}.", tags=[TAG]), item(1, f"{STORM}, said the keeper."))
    erasures = _erased_at_the_next_write(side, monkeypatch, "0")
    await dream_of(side)
    await _assert_erased(side, erasures, TAG)
    await dream_of(side)
    assert "1" in await tags_of(side), "it is dreamt of by itself"


async def test_a_refused_consolidation_of_an_item_erased_meanwhile_is_not_logged(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = turns(5)
    told[3]["text"] = _SECRET
    await tell(side, told)
    erasures = _erased_at_the_next_write(side, monkeypatch, "3")
    done = await consolidation(side, share=0.0001, chunk_chars=10).run(RULES, now=LATER)
    assert (done.refused, done.macros) == (1, 0)
    await _assert_erased(side, erasures, "vermilion")
    assert await side.graph.scan(Steps(tenant="t"), limit=9) == []


async def test_a_summary_erased_right_after_its_write_does_not_come_back(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = turns(5)
    told[3]["text"] = _SECRET
    await tell(side, told)
    erasures = _erased_at_the_next_write(side, monkeypatch, "3", before=False)
    await consolidation(side).run(RULES, now=LATER)
    await _assert_erased(side, erasures, "vermilion")


async def test_an_item_erased_after_its_selection_for_eviction_is_not_logged(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(side, turns_of_importance(0.1, None, None, None))
    erasures = _erased_at_the_next_write(side, monkeypatch, "0")
    await run_eviction(side)
    await _assert_erased(side, erasures, "ship 0")
    assert await side.graph.scan(Steps(tenant="t"), limit=9) == []
