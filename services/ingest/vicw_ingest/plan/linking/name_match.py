"""Match names to stored entities by the form of the name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from vicw_core.code.model import SymbolKind
from vicw_core.language.titles import TITLES
from vicw_shared.model import Node
from vicw_shared.model.extraction import ExtractedEntity
from vicw_shared.model.knowledge import FILE, PAGE, is_knowledge
from vicw_shared.text import fold_case

PEOPLE = frozenset({"person", "user", "agent"})
SYMBOLS = frozenset({"symbol", *SymbolKind})
GUESSES = frozenset({"name", "symbol"})
"""Uninformative subtypes: a node with a specific subtype is preferred."""


def fits(entity: ExtractedEntity, node: Node) -> bool:
    """Return whether a name may refer to a stored node: same label, and a subtype that the form of the name allows."""
    subtype = fold_case(node.subtype)
    if node.label is not entity.label:
        return False
    if is_knowledge(node):
        return entity.kind == FILE and subtype in {PAGE, FILE}  # a path refers to a page; a title need not
    if entity.guess == "symbol":
        return subtype in SYMBOLS
    if entity.scope is not None:
        return (subtype == entity.kind and node.source == entity.scope) or subtype == "symbol"
    if entity.kind is not None:
        return subtype == entity.kind
    return entity.guess not in PEOPLE or subtype in PEOPLE | GUESSES


def without_users(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes without users, if any remain: texts refer to people, and users may be named after them."""
    all_nodes = list(nodes)
    return [node for node in all_nodes if fold_case(node.subtype) != "user"] or all_nodes


def preference(node: Node) -> tuple[bool, datetime, str]:
    """Return a sort key: nodes with a specific subtype first, then the oldest."""
    return node.subtype in GUESSES, node.created_at, node.uid


def natural_name(entity: ExtractedEntity) -> str:
    """Return the name for the uid of a new node; a symbol's includes its file."""
    return f"{entity.name} in {entity.scope}" if entity.scope is not None else entity.name


def full_names(entities: Sequence[ExtractedEntity]) -> dict[str, ExtractedEntity]:
    """Map the key of a first or last name to the only person of the text whose longer name contains it."""
    people: dict[str, list[ExtractedEntity]] = {}
    for entity in entities:
        if entity.kind is None and entity.guess == "person":
            name = fold_case(entity.name)
            words = [word for word in name.split() if word not in TITLES]
            for word in {*words[:1], *words[-1:]} - {name}:
                people.setdefault(word, []).append(entity)
    candidates = ((entity.key, people.get(fold_case(entity.name), [])) for entity in entities if entity.kind is None)
    return {key: people_named[0] for key, people_named in candidates if len(people_named) == 1}
