"""What is erased, and what others have said in the same words, at the same time, or of it: on every pair of stores."""

from __future__ import annotations

from datetime import timedelta

import pytest

from contract.erasure.test_erasure import erase, everything, ingest
from contract.erasure.test_erasure import side as side
from contract.sleep.test_consolidation import tell, thread, turn
from contract.sleep.test_consolidation_job import run
from support.stores.model_claims import Claim, add_claim
from support.stores.pairs import START, Side
from vicw_core.index.full_text import text_words
from vicw_ingest.erasure.fingerprints import Fingerprints, new_key
from vicw_ingest.erasure.residue_scan import Residue, explain, scan_store
from vicw_ingest.erasure.selection import choose_context, choose_items
from vicw_shared.model import Node
from vicw_shared.model.names import ATTRIBUTE
from vicw_sleep.consolidation.batches import ConsolidationRules

_LONG = "This message is confidential and is meant only for whom Anna sent it to in London."


async def test_a_sentence_shared_with_another_item_is_no_residue(side: Side) -> None:
    await tell(side, [turn(0, f"{_LONG} Bye.", flow_id="f"), turn(1, f"I am in Rome. {_LONG}", flow_id="g")])
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert _LONG in [node.text for node in (await side.nodes()).values()], "somebody else has said that"


async def test_a_timestamp_shared_with_another_item_is_no_residue(side: Side) -> None:
    fence = {"id": "a", "flow_id": "f", "speaker": "Tom", "text": "The garden fence broke because the wind was strong."}
    piano = {"id": "b", "flow_id": "g", "speaker": "Lena", "text": "The old piano was damaged because the roof leaked."}
    await ingest(side, {"context": "c", "extract": "rules", "items": [fence, piano]}, "t", None)
    await erase(side, await choose_items(side.graph, "t", ["a"], None))
    assert "the roof leaked" in [node.text for node in (await side.nodes()).values()]


async def test_a_macro_event_survives_erasure_of_a_claim_it_supported(side: Side) -> None:
    told = "The ferry ticket costs 12 euros."
    await tell(side, [turn(0, told, flow_id="g", speaker="Tom"), turn(1, "Ben left.", flow_id="g")])
    again = turn(3, f"Ticket 577 is paid. {told}", speaker="Lena")
    await tell(side, [again, *(turn(n, f"We saw no ship in round {n}.") for n in range(4, 10))])
    for flow, number in (("g", "0"), ("f", "3")):
        (event,) = (node for node in await thread(side, flow) if node.source_id == number)
        await add_claim(side.graph, "t", "c", event.uid, Claim(told, "12 euros", "price", owner="Ferry ticket"))
    assert "SUPPORTS" in [edge.type for edge in (await side.edges()).values()]
    await run(side, ConsolidationRules(before=START.now(START.tzinfo) + timedelta(hours=2), min_cohesion=0.0))
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert (await thread(side))[0].is_macro, "it stays folded"


async def test_a_shared_statement_takes_speaker_and_time_of_the_remaining_item(side: Side) -> None:
    first = turn(0, "The nightly build failed because the staging disk was full.", speaker="Maximiliane Oberhuber")
    await tell(side, [first, turn(1, "I saw it. The nightly build failed because the staging disk was full.")])
    assert [event.speaker for event in await told(side, "The nightly build failed")] == ["Maximiliane Oberhuber"]
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    (event,) = await told(side, "The nightly build failed")
    assert (event.speaker, event.timestamp) == ("Ben", START + timedelta(minutes=1))
    assert "Oberhuber" not in await everything(side)


@pytest.mark.parametrize("gone", ["retracted", "told otherwise"])
async def test_a_shared_statement_changes_speaker_once_its_first_item_is_retired(side: Side, gone: str) -> None:
    first = turn(0, "The nightly build failed because the staging disk was full.", speaker="Maximiliane Oberhuber")
    await tell(side, [first, turn(1, "I saw it. The nightly build failed because the staging disk was full.")])
    if gone == "retracted":
        await side.retract({"context": "c", "ids": ["0"]}, "t")
    else:
        await tell(side, [first | {"text": "Nothing happened."}])
    (event,) = await told(side, "The nightly build failed")
    assert (event.speaker, event.timestamp) == ("Ben", START + timedelta(minutes=1))
    await erase(side, await choose_items(side.graph, "t", ["0"], None))
    assert "Oberhuber" not in await everything(side)


async def test_a_shared_statement_is_unchanged_when_a_later_item_is_erased(side: Side) -> None:
    await tell(side, [turn(0, "The checkout crashed because the payment certificate had expired.")])
    before = await told(side, "the payment certificate had expired")
    await tell(side, [turn(1, "The certificate expired because the renewal job was disabled.")])
    await erase(side, await choose_items(side.graph, "t", ["1"], None))
    assert await told(side, "the payment certificate had expired") == before


async def test_an_attribute_claim_in_another_context_survives_erasure(side: Side) -> None:
    first, other = "Lena told me that the Garden Fence costs 40 euros.", "The Garden Fence costs 50 euros."
    await tell(side, [turn(0, first)])
    await tell(side, [turn(1, other)], context="d")
    for context, said, price in (("c", first, "40 euros"), ("d", other, "50 euros")):
        (item,) = [n for n in (await side.nodes()).values() if n.content_hash and n.context == context]
        await add_claim(side.graph, "t", context, item.uid, Claim(said, price, "price", owner="Garden Fence"))
    await erase(side, await choose_context(side.graph, "t", "c"))
    (slot,) = [node for node in (await side.nodes()).values() if node.subtype == ATTRIBUTE]
    assert slot.name.startswith("Garden Fence ·"), "somebody else has said that"


async def told(side: Side, text: str) -> list[Node]:
    return [node for node in (await side.nodes()).values() if node.text == text]


async def test_a_wrapped_sentence_of_another_context_is_no_residue(side: Side) -> None:
    for context in ("c", "d"):
        said = "The king closed the harbour because\nthe Beast had swallowed\nseven Ships of Norway."
        await tell(side, [turn(0, said)], context=context)
    await erase(side, await choose_context(side.graph, "t", "d"))
    assert "the Beast had swallowed seven Ships of Norway" in [node.name for node in (await side.nodes()).values()]


async def test_code_shared_with_another_context_is_no_residue(side: Side) -> None:
    code = "class Lighthouse:\n    def switch_lamp(self):\n        self.lamp = not self.lamp"
    for context in ("c", "d"):
        item = {"id": "1", "text": code, "subtype": "code", "name": "lighthouse.py"}
        await ingest(side, {"context": context, "domain": "coding", "items": [item]}, "t", None)
    await erase(side, await choose_context(side.graph, "t", "d"))
    assert "Lighthouse.switch_lamp" in [node.name for node in (await side.nodes()).values()]


async def test_words_that_others_wrote_in_another_case_explain_what_files_hold(side: Side) -> None:
    await tell(side, [turn(0, "THE OLD BRIDGE AT THE MILL WAS CLOSED")])
    said, gone = "the old bridge at the mill was closed", "nobody else has seen the kingfisher"
    prints = Fingerprints(new_key())
    prints.add_text(said)
    prints.add_text(gone)
    residue = Residue.of(prints)
    await scan_store(side.graph, [], residue)
    residue.scan("words of a file", text_words(said).encode())
    residue.scan("another file", text_words(gone).encode())
    assert residue.residual_places() == ["another file", "words of a file"]
    await explain(side.graph, residue)
    assert residue.residual_places() == ["another file"]
