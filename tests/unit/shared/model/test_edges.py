"""The edge types that VICW ships, written out once more (design: "The graph")."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from support.stores.memory import Memory
from vicw_shared.model import Category, EdgeRegistry, Label
from vicw_shared.ports import Edges

LABELS = {"X": Label.CONTEXT, "N": Label.ENTITY, "V": Label.EVENT, "C": Label.CONCEPT, "K": Label.CHUNK}
TABLE = {
    # name: category, the labels that it joins (X Context, N Entity, V Event, C Concept, K Chunk), default weight
    "CAUSED": (Category.CAUSAL, "V→VN", 1.0),
    "ENABLED": (Category.CAUSAL, "NVC→VN", 0.8),
    "NEXT": (Category.TEMPORAL, "V→V", 0.6),
    "HAPPENED_AFTER": (Category.TEMPORAL, "V→V", 0.4),
    "SUPERSEDES": (Category.TEMPORAL, "NV→NV C→C", 0.9),
    "CONTRADICTS": (Category.CONFLICT, "NVC→NVC", 0.7),
    "SUPPORTS": (Category.SUPPORT, "NVC→NVC", 0.7),
    "DERIVED_FROM": (Category.LINEAGE, "NVC→NVCK", 0.7),
    "INITIATED": (Category.AGENCY, "N→V", 0.8),
    "STATED_BY": (Category.AGENCY, "NVC→N", 0.6),
    "ABOUT": (Category.ABOUTNESS, "NVC→NC", 0.7),
    "MENTIONS": (Category.ABOUTNESS, "NVCK→NC", 0.5),
    "TAGGED": (Category.ABOUTNESS, "NVC→C", 0.5),
    "AUTO_TAGGED": (Category.ABOUTNESS, "NV→C", 0.3),
    "IS_PERSON": (Category.IDENTITY, "N→N", 1.0),
    "MERGED_INTO": (Category.IDENTITY, "N→N C→C", 1.0),
    "ALIAS_OF": (Category.IDENTITY, "N→N", 0.7),
    "DISTINCT_FROM": (Category.IDENTITY, "N→N C→C", 0.1),
    "HAS_RELATIONSHIP": (Category.IDENTITY, "N→N", 0.7),
    "BELONGS_TO": (Category.STRUCTURAL, "NVCK→X", 0.1),
    "CONTAINS": (Category.STRUCTURAL, "NC→NVC", 0.5),
    "LINKS_TO": (Category.STRUCTURAL, "NC→NC", 0.5),
    "HAS_ENTRYPOINT": (Category.STRUCTURAL, "NC→NC", 0.6),
    "HAS_INDEX": (Category.STRUCTURAL, "NC→NC", 0.4),
    "EVIDENCED_BY": (Category.STRUCTURAL, "NVC→K", 1.0),
    "DEPENDS_ON": (Category.DEPENDENCY, "NC→NC", 0.7),
    "RELATED_TO": (Category.SEMANTIC, "NVC→NVC", 0.5),
    "REFERENCES": (Category.SEMANTIC, "NVC→NVCK", 0.5),
    "DESCRIBES": (Category.BRIDGE, "NC→NVC", 0.6),
    "IMPLEMENTS": (Category.BRIDGE, "NVC→NC", 0.6),
    "GOVERNS": (Category.BRIDGE, "NC→NVC", 0.6),
}
REGISTRY = EdgeRegistry.with_core_types()


def pairs(joins: str) -> set[tuple[Label, Label]]:
    sides = [group.split("→") for group in joins.split()]
    return {(LABELS[source], LABELS[target]) for left, right in sides for source, target in product(left, right)}


def test_the_table_has_every_registered_type() -> None:
    assert {edge_type.name for edge_type in REGISTRY} == TABLE.keys()


@pytest.mark.parametrize("name", TABLE)
def test_a_type_has_its_category_its_labels_and_its_default_weight(name: str) -> None:
    edge_type = REGISTRY.get(name)
    category, joins, weight = TABLE[name]
    assert (edge_type.category, edge_type.weight) == (category, weight)
    assert edge_type.pairs == pairs(joins)


async def test_ingested_edges_carry_the_default_weights_of_their_type(memory: Memory) -> None:
    told: list[dict[str, Any]] = [
        {"source": "crash", "type": "CAUSED", "target": "Parser", "certainty": 0.2},
        {"source": "Parser", "type": "DEPENDS_ON", "target": "Lexer"},
        {"source": "$item", "type": "SUPPORTS", "target": "Lexer"},
        {"source": "resilience", "type": "GOVERNS", "target": "$item"},
        {"source": "$item", "type": "REFERENCES", "target": "a"},
        {"source": "Parser", "type": "RELATED_TO", "target": "Lexer", "weight": 0.05, "desc": "the caller's own"},
    ]
    extraction = {
        "entities": [{"name": "Parser"}, {"name": "Lexer"}],
        "events": [{"id": "crash", "name": "the crash"}],
        "concepts": [{"name": "resilience"}],
        "relations": told,
    }
    await memory.ingest(
        {"id": "a", "text": "first", "speaker": "Ana", "tags": ["t"], "about": ["Ben"]},
        {"id": "b", "text": "second", "speaker": "Ana", "extraction": extraction},
        flow_id="f",
    )
    page = await memory.standalone.graph.scan(Edges(), limit=1000)
    weights = {edge.type: edge.weight for edge, _, _ in page}
    of_ours = "BELONGS_TO EVIDENCED_BY INITIATED TAGGED ABOUT MENTIONS NEXT HAPPENED_AFTER".split()
    assert weights.keys() == {*of_ours, *(relation["type"] for relation in told)}
    assert weights.pop("RELATED_TO") == 0.05
    assert weights == {name: TABLE[name][2] for name in weights}
