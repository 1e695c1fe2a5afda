"""Match names to stored entities by the form of the name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from vicw_ingest.extraction.code.model import SymbolKind
from vicw_ingest.extraction.model import ExtractedEntity
from vicw_ingest.extraction.rules.agents import TITLES
from vicw_shared.model import Node
from vicw_shared.model.knowledge import FILE, PAGE, is_knowledge
from vicw_shared.text import fold_case

PEOPLE = frozenset({"person", "user", "agent"})
SYMBOLS = frozenset({"symbol", *SymbolKind})
GUESSES = frozenset({"name", "symbol"})
"""Uninformative subtypes: a node with a specific subtype is preferred."""


def fits(thing: ExtractedEntity, node: Node) -> bool:
    """Return whether a name may refer to a stored node: same label, and a subtype that the form of the name allows."""
    subtype = fold_case(node.subtype)
    if node.label is not thing.label:
        return False
    if is_knowledge(node):
        return thing.kind == FILE and subtype in {PAGE, FILE}  # a path refers to a page; a title need not
    if thing.guess == "symbol":
        return subtype in SYMBOLS
    if thing.scope is not None:
        return (subtype == thing.kind and node.source == thing.scope) or subtype == "symbol"
    if thing.kind is not None:
        return subtype == thing.kind
    return thing.guess not in PEOPLE or subtype in PEOPLE | GUESSES


def besides_users(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes without users, if any remain: texts refer to people, and users may be named after them."""
    found = list(nodes)
    return [node for node in found if fold_case(node.subtype) != "user"] or found


def preference(node: Node) -> tuple[bool, datetime, str]:
    """Return a sort key: nodes with a specific subtype first, then the oldest."""
    return node.subtype in GUESSES, node.created_at, node.uid


def natural_name(thing: ExtractedEntity) -> str:
    """Return the name for the uid of a new node; a symbol's includes its file."""
    return f"{thing.name} in {thing.scope}" if thing.scope is not None else thing.name


def full_names(things: Sequence[ExtractedEntity]) -> dict[str, ExtractedEntity]:
    """Map the key of a first or last name to the only person of the text whose longer name contains it."""
    people: dict[str, list[ExtractedEntity]] = {}
    for thing in things:
        if thing.kind is None and thing.guess == "person":
            name = fold_case(thing.name)
            words = [word for word in name.split() if word not in TITLES]
            for word in {*words[:1], *words[-1:]} - {name}:
                people.setdefault(word, []).append(thing)
    called = ((thing.key, people.get(fold_case(thing.name), [])) for thing in things if thing.kind is None)
    return {key: found[0] for key, found in called if len(found) == 1}
