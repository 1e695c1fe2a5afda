"""What an item says of what another told, on both pairs of stores: events told again, and whom *she* means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from contract.sides import Side, asked_for

CRASH = "The checkout crashed because the payment certificate had expired."
EXPIRED = "The certificate expired because the renewal job was disabled."
BOUNCED = "The mail bounced because the root certificate had expired."


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


async def joined(side: Side, edge_type: str) -> set[tuple[str, str]]:
    nodes = {uid: node for uid, node in (await side.nodes()).items() if node.retired_at is None}
    edges = [edge for edge in (await side.edges()).values() if edge.type == edge_type]
    ends = [(nodes[e.source], nodes[e.target]) for e in edges if e.source in nodes and e.target in nodes]
    return {(source.text or source.name, target.text or target.name) for source, target in ends}


async def test_a_chain_of_causes_goes_on_in_another_item(side: Side) -> None:
    await tell(side, CRASH, EXPIRED)
    assert await joined(side, "CAUSED") == {
        ("the payment certificate had expired", "The checkout crashed"),
        ("the renewal job was disabled", "the payment certificate had expired"),
    }
    await side.retract({"context": "c", "ids": ["t0"]}, "t")
    await side.indexer.drain()
    assert await joined(side, "CAUSED") == {("the renewal job was disabled", "The certificate expired")}, "as it says"
    assert (await side.check()).violations == []


async def test_of_two_certificates_none_is_meant(side: Side) -> None:
    await tell(side, CRASH, BOUNCED, EXPIRED)
    assert ("the renewal job was disabled", "The certificate expired") in await joined(side, "CAUSED")


async def test_she_is_whom_the_turn_before_speaks_of(side: Side) -> None:
    moved = "She moved to Oslo last week."
    await tell(side, "My sister Ingrid lives in Bergen.", moved)
    assert await joined(side, "SUPERSEDES") == {(moved, "My sister Ingrid lives in Bergen.")}
    assert ("Ingrid", moved) in await joined(side, "INITIATED")
