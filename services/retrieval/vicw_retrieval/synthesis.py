"""The answer: results, sub-graph, and text within the caller's budget (seed 003 §3.2; seed 000, the 70/30 split)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vicw_retrieval.surroundings import Surroundings
from vicw_retrieval.why.telling import draw, tell
from vicw_shared.model import Edge, Node
from vicw_shared.ports import Direction, Neighbour
from vicw_shared.wire.retrieve import Graph, GraphEdge, GraphNode, Result

ANCHOR_SHARE = 0.7
_ELLIPSIS = "…"
_NEIGHBOUR_CHARS = 400
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


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of the text: ``order`` places it, ``anchor`` tells a result from a neighbour."""

    order: tuple[int, int]
    anchor: bool
    text: str


def write_text(results: Sequence[Result], around: Surroundings, budget: int) -> tuple[str, list[str]]:
    """Return text of at most ``budget`` characters, and the uids of results that it had no room for.

    Results get 70 % first, their neighbours 30 %; what one side leaves goes to the other. The best result is
    always in it, cut if it is alone too long.
    """
    anchors = [Block((r.rank, 0), True, _anchor_text(r)) for r in results if r.kind == "anchor"]
    chosen = [Block(first.order, True, _shorten(first.text, budget - 1)) for first in anchors[:1]]
    chosen += _fill(anchors[1:], int(budget * ANCHOR_SHARE) - _length(chosen))
    ranks = {block.order[0] for block in chosen}
    beside, told = _chains(around, ranks, budget - _length(chosen))
    neighbours = [
        Block((result.rank, number), False, line)
        for result in results
        if result.rank in ranks
        for number, line in enumerate(_neighbour_lines(result, around, told), start=1 + len(around.chains))
    ]
    beside += _fill(neighbours, budget - _length(chosen) - _length(beside))
    late = [a for a in anchors if a.order[0] not in ranks]
    chosen += beside
    chosen += _fill(late, budget - _length(chosen))
    ranks = {block.order[0] for block in chosen if block.anchor}
    text = "\n".join(block.text for block in sorted(chosen, key=lambda b: b.order))
    return text[:budget], [r.uid for r in results if r.kind == "anchor" and r.rank not in ranks]


def draw_graph(results: Sequence[Result], around: Surroundings) -> Graph:
    """Return the sub-graph: results first, then neighbours and proof; paths are chains, then other causal edges."""
    ranked = [r.uid for r in results]
    order = {uid: index for index, uid in enumerate(ranked)}
    nodes = sorted(around.nodes.values(), key=lambda n: (order.get(n.uid, len(order)), n.uid))
    edges = sorted(around.edges.values(), key=lambda e: (e.type, e.id))
    chains = [tuple(step.edge.id for step in chain.steps) for chain in around.chains]
    told = {edge_id for chain in chains for edge_id in chain}
    return Graph(
        nodes=tuple(_graph_node(node, around) for node in nodes),
        edges=tuple(draw_edge(edge) for edge in edges if edge.source in around.nodes and edge.target in around.nodes),
        paths=(*chains, *((edge.id,) for edge in edges if edge.type == "CAUSED" and edge.id not in told)),
        chains=tuple(draw(chain, around) for chain in around.chains),
    )


def _chains(around: Surroundings, ranks: Collection[int], room: int) -> tuple[list[Block], set[str]]:
    """Tell chains of these results in order while they fit, without proofs if need be; return their edges, too."""
    taken: list[Block] = []
    told: set[str] = set()
    for number, chain in enumerate((chain for chain in around.chains if chain.rank in ranks), start=1):
        line, block = tell(chain, around)
        for text in (block, line):
            if fitting := _fill([Block((chain.rank, number), False, text)], room - _length(taken)):
                taken += fitting
                told |= {step.edge.id for step in chain.steps}
                break
    return taken, told


def _fill(blocks: Iterable[Block], room: int) -> list[Block]:
    """Take blocks in order while they fit, each with the line break before it."""
    taken = []
    for block in blocks:
        if len(block.text) + 1 <= room:
            taken.append(block)
            room -= len(block.text) + 1
    return taken


def _length(blocks: Iterable[Block]) -> int:
    return sum(len(block.text) + 1 for block in blocks)


def _anchor_text(result: Result) -> str:
    when = result.timestamp.strftime("%Y-%m-%d %H:%M") if result.timestamp and result.timestamp.year >= 1000 else None
    source = result.id or result.source
    head = [result.context, result.domain, result.subtype, result.name, when, f"id {source}" if source else None]
    facts = dict.fromkeys(part for part in head if part)
    return f"[{result.rank}] {' · '.join(facts)}\n{result.text.strip()}"


def _neighbour_lines(result: Result, around: Surroundings, in_chains: Collection[str]) -> Iterator[str]:
    told: set[tuple[str, str, str]] = set()
    for neighbour in around.neighbours.get(result.uid, ()):
        direction = Direction.IN if neighbour.edge.target == neighbour.origin else Direction.OUT
        word = _WORDS.get((neighbour.edge.type, direction))
        said = (neighbour.origin, word or "", neighbour.node.uid)  # two tellings of a relation are one line
        if word is None or neighbour.node.uid == result.uid or said in told or neighbour.edge.id in in_chains:
            continue
        told.add(said)
        # An event that the result's text tells of is the subject of its own line.
        subject = f"{around.nodes[neighbour.origin].name} " if neighbour.origin != result.uid else ""
        yield f"    {subject}{word}: {_say(neighbour, around)}"
    for tag, item in around.associates.get(result.uid, ()):
        yield f"    also {tag.name}: {_say_node(item, around)}"


def _say(neighbour: Neighbour, around: Surroundings) -> str:
    certainty = neighbour.edge.properties.get("certainty")
    return _say_node(neighbour.node, around) + (f" (certainty {certainty:g})" if isinstance(certainty, float) else "")


def _say_node(node: Node, around: Surroundings) -> str:
    text = " ".join(around.texts.get(node.uid, "").split())
    said = f"{node.name}: {text}" if text else node.name
    if text.startswith(node.name.rstrip(_ELLIPSIS)) and text:
        said = text  # the name is the text's own beginning
    return _shorten(said, _NEIGHBOUR_CHARS)


def _shorten(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - 1)] + _ELLIPSIS


def _graph_node(node: Node, around: Surroundings) -> GraphNode:
    return GraphNode(
        uid=node.uid,
        id=node.source_id,
        label=node.label,
        subtype=node.subtype,
        name=node.name,
        aliases=_aliases(node, around),
        text=around.texts.get(node.uid),
        context=node.context,
        domain=node.domain,
        timestamp=node.timestamp,
    )


def _aliases(node: Node, around: Surroundings) -> tuple[str, ...]:
    """Return what else it is called: names that it had, and those of what was merged into it, as they are written."""
    names = dict.fromkeys((*node.aliases, *sorted(around.aliases.get(node.uid, ()))))
    return tuple(name for name in names if name != node.name)


def draw_edge(edge: Edge) -> GraphEdge:
    """Return an edge as the wire has it."""
    certainty, desc = edge.properties.get("certainty"), edge.properties.get("desc")
    confidence = edge.properties.get("confidence")
    return GraphEdge(
        id=edge.id,
        type=edge.type,
        source=edge.source,
        target=edge.target,
        weight=edge.weight,
        created_by=edge.created_by,
        certainty=certainty if isinstance(certainty, float) else None,
        confidence=confidence if isinstance(confidence, float) else None,
        desc=str(desc) if desc is not None else None,
    )
