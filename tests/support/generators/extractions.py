"""Random extractions, most of them sound: each is stored as it is or refused as a whole."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

from support.stores.graph_records import Graph
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import EdgeRegistry, Label

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


class RandomExtractions:
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


async def ingest_random_extractions(
    count: int, graph: Graph, ingest: Callable[[list[dict[str, Any]], str], Awaitable[object]]
) -> None:
    """Give ``ingest`` so many items, with how to extract from them; see that nothing of a refused request is stored."""
    dice, stored, refused = RandomExtractions(7), 0, 0
    while stored < count:
        items = list({item["id"]: item for item in dice.items()}.values())
        before = await _nodes(graph) if refused % 50 == 0 else None
        try:
            await ingest(items, "rules" if stored % 3 == 0 else "caller")
            stored += len(items)
        except InvalidInputError:
            refused += 1
            assert before is None or await _nodes(graph) == before, "something of a refused request is stored"
    assert refused > count / 50, "hardly anything was wrong"


async def _nodes(graph: Graph) -> dict[Label, int]:
    return {label: await graph.audit.count(label) for label in Label}
