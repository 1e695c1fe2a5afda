"""People who are erased: in however many contexts, and of whom all is of the past; on every pair of stores."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contract.erasure.test_erasure import erase, everything, ingest
from contract.erasure.test_erasure import side as side
from contract.sleep.test_consolidation import tell, turn
from contract.sleep.test_consolidation_job import run as consolidate
from contract.sleep.test_consolidation_job import turns
from contract.sleep.test_entity_resolution import DECISION, uid
from support.stores.pairs import START, Side
from vicw_ingest.erasure.selection import choose_person
from vicw_ingest.identity.changes import merge, split
from vicw_shared.errors import StateConflictError
from vicw_shared.ports import look_up

_NAME = "Quirin Zeltner"
_TEXT = "I hid the vermilion lockbox in the old granary."


async def test_everywhere_selects_a_person_in_all_contexts(side: Side) -> None:
    for number in range(24):
        item = {"id": "a", "text": f"I was in room {number}.", "speaker": _NAME}
        await side.ingest({"context": f"c{number}", "items": [item]}, "t", None)
    await side.indexer.drain()
    with pytest.raises(StateConflictError) as refused:
        await choose_person(side.graph, "t", _NAME, None)
    assert refused.value.detail.count("('c") == 20, "as many as somebody reads"
    chosen = await choose_person(side.graph, "t", _NAME, None, everywhere=True)
    assert (chosen.count, len(chosen.items)) == (24, 24)
    await erase(side, chosen)
    assert "Zeltner" not in await everything(side)


@pytest.mark.parametrize("how", ["retracted", "over", "told otherwise"])
async def test_a_person_with_only_retired_items_is_erased_by_name(side: Side, how: str) -> None:
    ends = {"expires_at": (START + timedelta(minutes=30)).isoformat()} if how == "over" else {}
    await tell(side, [turn(0, "Ben left.", speaker="Ben"), turn(1, _TEXT, speaker=_NAME, **ends)])
    if how == "retracted":
        await side.retract({"context": "c", "ids": ["1"]}, "t")
    elif how == "over":
        assert await side.expire() == 1
    else:
        await tell(side, [turn(1, "Ben came back.", speaker="Ben")])
    await side.indexer.drain()
    assert await look_up(side.graph, "t", [_NAME.casefold()]) == {}, "answers do not know the name any more"
    chosen = await choose_person(side.graph, "t", _NAME.upper(), None)
    assert chosen.count == 1
    await erase(side, chosen)
    told = await everything(side)
    assert "Zeltner" not in told
    assert "vermilion" not in told
    assert "Ben left." in told


async def test_person_erasure_refuses_retired_namesakes_in_several_contexts(side: Side) -> None:
    for context in ("c", "d"):
        await ingest(side, {"context": context, "items": [{"id": "1", "text": _TEXT, "speaker": _NAME}]}, "t", None)
    await ingest(side, {"context": "d", "items": [{"id": "1", "text": _TEXT, "speaker": _NAME}]}, "u", None)
    await side.retract({"context": "d", "ids": ["1"]}, "t")
    with pytest.raises(StateConflictError, match="Several things are called"):
        await choose_person(side.graph, "t", _NAME, None)
    assert (await choose_person(side.graph, "t", _NAME, "d")).items.keys() == {"d"}
    assert (await choose_person(side.graph, "t", _NAME, None, everywhere=True)).items.keys() == {"c", "d"}


@pytest.mark.parametrize("folded", [False, True])
async def test_erasing_a_person_after_a_split_takes_only_their_own_items(side: Side, folded: bool) -> None:
    told = turns(5, speaker="Ana")
    told[1] |= {"text": _TEXT, "speaker": _NAME}
    await tell(side, [*told[:2], turn(9, "I forged an ochre key.", speaker="Z. the Smith", flow_id="g")])
    await merge(side.graph, DECISION, uid(_NAME), uid("Z. the Smith"))
    told[3] |= {"text": "I have a turquoise boat.", "speaker": _NAME}
    await tell(side, told[2:])
    await split(side.graph, DECISION, uid(_NAME))
    if folded:
        assert (await consolidate(side)).events == 5
    chosen = await choose_person(side.graph, "t", _NAME, None)
    assert chosen.count == 2
    await erase(side, chosen)
    told_of = await everything(side)
    assert [word for word in ("Zeltner", "vermilion", "turquoise") if word in told_of] == []
    assert "ochre" in told_of
