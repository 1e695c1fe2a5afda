"""What a mechanism gives is what its formula says, number by number."""

from __future__ import annotations

import math
from typing import Any

import pytest

from support.answers.explanation import Explained, explained
from support.stores.memory import Memory

CERTAINTY = 0.8
FILLER = tuple({"id": f"f{n}", "text": f"The pantry list, line {n}: rain, bread, socks {n}."} for n in range(60))


def item_with_relation(uid: str, text: str, source: str, kind: str, target: str, **extraction: Any) -> dict[str, Any]:
    edge = {"source": source, "type": kind, "target": target, "certainty": CERTAINTY}
    return {
        "id": uid,
        "text": text,
        "timestamp": "2026-01-01T00:00:00Z",
        "extraction": {"relations": [edge], **extraction},
    }


def unsquashed_score(answer: Explained, uid: str) -> float:
    """Return a result's score before it was squashed into (0, 1), from 0."""
    shown = answer.results[uid].score
    return max(0.0, math.log(shown / (1 - shown)))


def graph_score(answer: Explained, uid: str) -> float:
    return next(hit.score for hit in answer.results[uid].channels if hit.channel == "graph")


@pytest.mark.parametrize("weight", [0.1, 0.3])
async def test_an_item_reached_by_an_edge_gains_1_5_times_graph_weight(memory: Memory, weight: float) -> None:
    cause = {"id": "cause", "text": "Somebody moved boxes over a cable.", "timestamp": "2026-01-01T00:00:00Z"}
    effect = item_with_relation("effect", "The server throws an error today.", "cause", "CAUSED", "effect")
    await memory.ingest(cause, effect, *FILLER)
    flat, walked = [await explained(memory, "The server throws an error", {"graph_weight": w}) for w in (0.0, weight)]
    score = 1.0 * CERTAINTY  # of what stands best, over one edge of weight 1
    assert graph_score(walked, "cause") == pytest.approx(1.5 * weight * score)
    assert walked.gains("walk") == {"cause": pytest.approx(1.5 * weight * unsquashed_score(flat, "effect") * score)}


async def test_an_entity_named_in_part_passes_on_half_the_score(memory: Memory) -> None:
    things = [{"id": "q", "name": "Quibblegate Ledger", "subtype": "service"}]
    await memory.ingest(
        item_with_relation("act", "Twelve rows went away.", "q", "INITIATED", "act", entities=things), *FILLER
    )
    whole, part, begun = [
        await explained(memory, f"what about {name} then", {"graph_weight": 0.3})
        for name in ("Quibblegate Ledger", "Quibblegate", "quibble")
    ]
    score = 0.8 * CERTAINTY  # over one edge of weight .8
    assert graph_score(whole, "act") == pytest.approx(1.5 * 0.3 * score)
    assert graph_score(part, "act") == pytest.approx(1.5 * 0.3 * score / 2)
    assert graph_score(begun, "act") == pytest.approx(1.5 * 0.3 * score / 2)


@pytest.mark.parametrize(
    ("word", "others"), [("quibble", ("Quibbleton Mill",)), ("quibble", ("Quibble",)), ("quib", ())]
)
async def test_an_ambiguous_or_short_name_prefix_leads_nowhere(
    memory: Memory, word: str, others: tuple[str, ...]
) -> None:
    """Two things begin with it; one is called by it; it is too short."""
    names = {"q": "Quibblegate Ledger"} | {other: other for other in others}
    things = [{"id": uid, "name": name, "subtype": "service"} for uid, name in names.items()]
    await memory.ingest(
        item_with_relation("act", "Twelve rows went away.", "q", "INITIATED", "act", entities=things), *FILLER
    )
    assert (await explained(memory, f"what about {word} then", {"graph_weight": 0.3})).gains("walk") == {}


async def test_a_function_word_does_not_match_the_start_of_a_name(memory: Memory) -> None:
    things = [{"id": "t", "name": "Theresa Whichcombe", "subtype": "person"}]
    await memory.ingest(
        item_with_relation("act", "Twelve rows went away.", "t", "INITIATED", "act", entities=things), *FILLER
    )
    asked = [await explained(memory, query, {"graph_weight": 0.3}) for query in ("is there which one?", "and there's")]
    assert [answer.gains("walk") for answer in asked] == [{}, {}]


@pytest.mark.parametrize(("chars", "share"), [(400, 1.0), (800, 0.5), (1000, 0.4)])
async def test_a_long_turn_gains_less_by_lift(memory: Memory, chars: int, share: float) -> None:
    long = ("They went on for hours, as one does. " * 40)[: chars - 1] + "."
    turns = (("short", "Wow!"), ("hit", "We saw a comet over the lake."), ("long", long))
    items = [{"id": uid, "text": text, "speaker": "Ana", "flow_id": "chat"} for uid, text in turns]
    await memory.ingest(*items, *FILLER)
    flat, lifted = [await explained(memory, "a comet over the lake", {"neighbour_lift": on}) for on in (False, True)]
    gains = lifted.gains("lift")
    assert gains["short"] == pytest.approx(unsquashed_score(flat, "hit") / 2)
    assert gains["long"] == pytest.approx(share * gains["short"])


async def test_a_page_covering_the_remaining_query_words_gains_more_by_bridges(memory: Memory) -> None:
    pages = (
        {"id": "film", "name": "The Dry (film)", "text": "The Dry is a film after a novel by Jane Harper."},
        {"id": "answer", "name": "Jane Harper", "text": "As a writer she was born beside the harbour."},
        {"id": "garden", "name": "Jane Harper", "text": "Her garden has roses and a shed."},
    )
    await memory.ingest(*pages, *FILLER, domain="wiki")
    query = "At which harbour was the writer born of the novel of the film The Dry?"
    gains = (await explained(memory, query, {"entity_hops": 1})).gains("bridges")
    assert gains["answer"] / gains["garden"] == pytest.approx((1 + 0.25) / (1 - 0.25)), "all that is left, and nothing"
