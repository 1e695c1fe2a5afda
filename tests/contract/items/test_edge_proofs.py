"""An item's edges come with what proves them: a passage and its words, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for
from vicw_retrieval.items.service import read_item
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.request.engines import CircuitBreaker
from vicw_shared.settings import LimitSettings, RetrievalSettings
from vicw_shared.wire.items import ItemDetails, ItemQueryById

DAYS = "It rained all day. The gate stayed shut. Nobody came to the door, and nobody called. " * 2
PUMP = f"{DAYS}\n\nThe old pump of Lisbon failed. So the field was flooded. Ines had warned of it."
"""The end is in a passage of its own."""
ITEMS: list[dict[str, Any]] = [
    {
        "id": "log",
        "text": PUMP,
        "tags": ["water"],
        "extraction": {
            "entities": [
                {"name": "Lisbon", "subtype": "place", "description": "It rained all day."},
                {"name": "Ines", "subtype": "person"},
            ],
            "events": [{"name": "flood", "description": "the field was flooded"}],
            "relations": [{"source": "$item", "type": "CAUSED", "target": "flood"}],
        },
    },
    {
        "id": "report",
        "text": "The harvest was lost. The log tells why.",
        "extraction": {"relations": [{"source": "log", "type": "CAUSED", "target": "$item"}]},
    },
    {
        "id": "letter",
        "text": "Ana is ashamed of the pump. It is in the log.",
        "sensitivity": "personal",
        "about": ["Ana"],
        "extraction": {"relations": [{"source": "$item", "type": "REFERENCES", "target": "log"}]},
    },
]


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        events = [item | {"timestamp": "2026-02-01T10:00:00Z"} for item in ITEMS]
        await opened.ingest({"context": "c", "items": events, "extract": "caller"}, "t", None)
        yield opened


async def details(side: Side, item: str, **query: Any) -> ItemDetails:
    settings = (LimitSettings(), RetrievalSettings(), CircuitBreaker())
    ports = RetrievalPorts(side.graph, side.vectors, side.embedder, "", *settings)
    return await read_item(item, ItemQueryById.model_validate(query), "t", ports, context="c")


def proofs(item: ItemDetails) -> dict[tuple[str, str], tuple[str | None, str | None, str | None]]:
    return {(edge.type, edge.other.name): (edge.source_item, edge.proof, edge.quote) for edge in item.edges}


async def test_an_edge_has_the_passage_that_states_it(side: Side) -> None:
    log, report = await details(side, "log"), await details(side, "report")
    last = log.passages[-1].uid
    found = proofs(log)
    assert len(log.passages) > 1
    assert found["MENTIONS", "Lisbon"] == (log.uid, last, "The old pump of Lisbon failed.")
    assert found["MENTIONS", "Ines"] == (log.uid, last, "Ines had warned of it.")
    assert found["CAUSED", "flood"] == (log.uid, last, "So the field was flooded.")
    (of_report,) = report.passages
    assert found["CAUSED", report.name] == (report.uid, of_report.uid, "The harvest was lost. The log tells why.")
    assert proofs(report)["CAUSED", log.name] == found["CAUSED", report.name]


async def test_what_no_text_states_has_no_proof(side: Side) -> None:
    found = proofs(await details(side, "log"))
    assert found["TAGGED", "water"] == (None, None, None)


async def test_a_proof_that_a_viewer_may_not_see_hides_its_edge(side: Side) -> None:
    everything, seen = await details(side, "log"), await details(side, "log", viewer="Ivo")
    (letter,) = [edge for edge in everything.edges if edge.type == "REFERENCES"]
    assert letter.quote == "Ana is ashamed of the pump. It is in the log."
    assert "ashamed" not in seen.model_dump_json()
    assert {edge.quote for edge in seen.edges if edge.quote} == {
        edge.quote for edge in everything.edges if edge.quote and edge.type != "REFERENCES"
    }
