"""Thousands of random extractions: each is stored as it is or refused as a whole, and the store stays clean."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from memory import Memory
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import EdgeRegistry, Label

COUNT = int(os.environ.get("VICW_TEST_EXTRACTIONS", "5000"))
_NAMES = [
    *("Ana", "ana", "ANA SOUZA", "Ana Souza", "Porto", "the vault", "Entity", "Chunk", "Context", "`Event`", "$item"),
    *(
        "'; DROP TABLE node; --",
        "}) DETACH DELETE n //",
        "MATCH (n) RETURN n",
        "CAUSED",
        "naïve ☃",
        "a" * 300,
        "0",
        "-",
    ),
    *(f"thing {n}" for n in range(60)),
]
_SUBTYPES = ["person", "thing", "villain", "statement", "tag", "macro", None, "Entity"]
_TYPES = [edge_type.name for edge_type in EdgeRegistry.with_core_types()] + ["HATES", "caused"]

pytestmark = pytest.mark.timeout(900)


class Dice:
    """Throws extractions: most of them sound, some with ends that are not there, types that no one knows, circles."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.sent = 0

    def items(self) -> list[dict[str, Any]]:
        return [self._item() for _ in range(self._random.randint(1, 6))]

    def _item(self) -> dict[str, Any]:
        self.sent += 1
        things = [self._thing() for _ in range(self._random.randint(0, 4))]
        events = [self._thing() | {"id": f"e{n}"} for n in range(self._random.randint(0, 3))]
        ends = ["$item", *(thing["name"] for thing in things), *(event["id"] for event in events)]
        if self._random.random() < 0.05:
            ends.append("nobody")
        relations = [self._relation(ends) for _ in range(self._random.randint(0, 2) if len(ends) > 1 else 0)]
        one, two = self._random.choices(_NAMES, k=2)
        return {
            "id": f"i{self._random.randrange(2000)}",
            "text": f"Text {self.sent}. {one} did it because {two} fell.",
            "speaker": self._random.choice([None, "Ana", "Ben"]),
            "extraction": {"entities": things, "events": events, "relations": relations},
        }

    def _thing(self) -> dict[str, Any]:
        return {"name": self._random.choice(_NAMES), "subtype": self._random.choice(_SUBTYPES)}

    def _relation(self, ends: list[str]) -> dict[str, Any]:
        source, target = self._random.sample(ends, 2)
        sound = self._random.random() < 0.8
        kind = self._random.choice(["RELATED_TO", "SUPPORTS", "CAUSED"]) if sound else self._random.choice(_TYPES)
        return {"source": source, "type": kind, "target": target, "certainty": self._random.random()}


async def test_random_extractions_leave_the_store_clean(memory: Memory) -> None:
    dice, stored, refused = Dice(7), 0, 0
    while stored < COUNT:
        items = list({item["id"]: item for item in dice.items()}.values())
        before = await _nodes(memory) if refused % 50 == 0 else None
        try:
            await memory.ingest(*items, extract="rules" if stored % 3 == 0 else "caller", wait=False)
            stored += len(items)
        except InvalidInputError:
            refused += 1
            assert before is None or await _nodes(memory) == before, "something of a refused request is stored"
    assert refused > COUNT / 50, "hardly anything was wrong"
    await memory.standalone.indexer.drain()
    assert (await memory.check()).violations == []


async def _nodes(memory: Memory) -> dict[Label, int]:
    return {label: await memory.standalone.graph.count(label) for label in Label}


async def test_ten_thousand_entities_in_one_item_are_refused_by_their_limit(memory: Memory) -> None:
    entities = [{"name": f"thing {n}"} for n in range(10_000)]
    with pytest.raises(InvalidInputError, match="VICW_MAX_EXTRACTED"):
        await memory.ingest({"id": "x", "text": "many", "extraction": {"entities": entities}})
    assert await memory.found("many") == []


async def test_rules_read_ten_thousand_names_in_one_item(memory: Memory) -> None:
    text = " ".join(
        f"Then Name{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676 % 26)} fell." for n in range(4000)
    )
    await memory.ingest({"id": "x", "text": text}, extract="rules")
    assert await memory.found("Namebaa fell") == ["x"]
