"""What an item says of what another told, on both pairs of stores: events that are told again in the same words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.stores.pairs import Side, asked_for

CRASH = "The checkout crashed because the payment certificate had expired."
EXPIRED = "The payment certificate had expired because the renewal job was disabled."


@pytest.fixture(params=["embedded", pytest.param("platform", marks=pytest.mark.servers)])
async def side(request: pytest.FixtureRequest, store: Path) -> AsyncIterator[Side]:
    async with asked_for(request, store) as opened:
        yield opened


async def tell(side: Side, *texts: str) -> None:
    """Tell one turn after the other, each in a request of its own."""
    for minute, text in enumerate(texts):
        item: dict[str, Any] = {"id": f"t{minute}", "text": text, "speaker": f"Speaker {'AB'[minute % 2]}"}
        item |= {"timestamp": f"2026-03-01T09:{minute:02d}:00+00:00", "flow_id": "chat"}
        await side.ingest({"context": "c", "items": [item], "extract": "rules"}, "t", None)
        await side.indexer.drain()
    assert (await side.check()).violations == []


async def edges_by_text(side: Side, edge_type: str) -> set[tuple[str, str]]:
    nodes = {uid: node for uid, node in (await side.nodes()).items() if node.retired_at is None}
    edges = [edge for edge in (await side.edges()).values() if edge.type == edge_type]
    ends = [(nodes[e.source], nodes[e.target]) for e in edges if e.source in nodes and e.target in nodes]
    return {(source.text or source.name, target.text or target.name) for source, target in ends}


async def test_a_causal_chain_continues_across_items(side: Side) -> None:
    await tell(side, CRASH, EXPIRED)
    assert await edges_by_text(side, "CAUSED") == {
        ("the payment certificate had expired", "The checkout crashed"),
        ("the renewal job was disabled", "the payment certificate had expired"),
    }
    await side.retract({"context": "c", "ids": ["t0"]}, "t")
    await side.indexer.drain()
    told = ("the renewal job was disabled", "The payment certificate had expired")
    assert await edges_by_text(side, "CAUSED") == {told} or await edges_by_text(side, "CAUSED") == {
        (told[0], told[1].lower())
    }
    assert (await side.check()).violations == []
