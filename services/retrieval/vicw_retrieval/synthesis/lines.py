"""Neighbourhood of a result in the graph, as lines of text."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from vicw_retrieval.model.neighbourhood import Neighbourhood
from vicw_retrieval.synthesis.meter import ELLIPSIS, TextMeter
from vicw_shared.model import Node
from vicw_shared.ports import Direction, Neighbour
from vicw_shared.text import fold_case
from vicw_shared.wire.retrieve import Result

_SHORT = TextMeter(400)
_WORDS = {
    ("NEXT", Direction.OUT): "after",
    ("NEXT", Direction.IN): "before",
    ("CAUSED", Direction.OUT): "led to",
    ("CAUSED", Direction.IN): "caused by",
    ("INITIATED", Direction.IN): "by",
    ("SUPERSEDES", Direction.OUT): "replaces",
    ("SUPERSEDES", Direction.IN): "replaced by",
    ("CONTRADICTS", Direction.OUT): "contradicts",
    ("CONTRADICTS", Direction.IN): "contradicted by",
}


def surrounding_lines(
    result: Result, around: Neighbourhood, in_chains: Collection[str], *, alone: bool = False, speaks: bool = False
) -> Iterator[str]:
    """Yield the neighbourhood of a result, a line each; edges ``in_chains`` are shown elsewhere.

    ``alone``: another result has shown the neighbours of the node, only this item's own in the flow remain; ``speaks``:
    the result itself names the speaker.
    """
    shown: set[tuple[str, str, str]] = set()
    speaker = fold_case(result.speaker or "")
    adjacent = around.adjacent.get(result.uid)
    for direction, node in adjacent or ():
        yield f"    {_WORDS['NEXT', direction]}: {_node_line(node, around)}"
    for neighbour in around.neighbours.get(result.node, ()) if not alone else ():
        edge = neighbour.edge
        direction = Direction.IN if edge.target == neighbour.origin else Direction.OUT
        word = _WORDS.get((edge.type, direction))
        relation = (edge.type, edge.source, edge.target)  # duplicates of a relation, and its two ends, share a line
        by_speaker = result.consolidated_into == neighbour.origin or _has_name(neighbour.node, speaker)
        if speaks and edge.type == "INITIATED" and by_speaker:
            continue
        if word is None or neighbour.node.uid == result.node or relation in shown or edge.id in in_chains:
            continue
        if adjacent is not None and edge.type == "NEXT" and neighbour.origin == result.node:
            continue  # shown above
        shown.add(relation)
        # An event of the result's text is the subject of its own line.
        subject = f"{around.nodes[neighbour.origin].name} " if neighbour.origin != result.node else ""
        yield f"    {subject}{word}: {_neighbour_line(neighbour, around)}"


def _has_name(node: Node, name: str) -> bool:
    return name in {fold_case(known) for known in (node.name, *node.aliases)}


def associate_line(tag: Node, item: Node, around: Neighbourhood) -> str:
    """Return the line of an associate below the result that it shares a tag with."""
    return f"    also {tag.name}: {_node_line(item, around)}"


def _neighbour_line(neighbour: Neighbour, around: Neighbourhood) -> str:
    certainty = neighbour.edge.properties.get("certainty")
    return _node_line(neighbour.node, around) + (f" (certainty {certainty:g})" if isinstance(certainty, float) else "")


def _node_line(node: Node, around: Neighbourhood) -> str:
    text = " ".join(around.texts.get(node.uid, "").split())
    line = f"{node.name}: {text}" if text else node.name
    if text.startswith(node.name.rstrip(ELLIPSIS)) and text:
        line = text  # the name is the text's own beginning
    return _SHORT.cut(line, _SHORT.limit)
