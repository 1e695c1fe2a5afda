"""What proves an item's edges: a passage of the item whose text states an edge, and the words of it about the edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vicw_retrieval.access.scope import is_named
from vicw_retrieval.causal_chains.service import quote
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.ports import Direction, GraphStore, Neighbour
from vicw_shared.text import fold_case

_MOST = 200
"""Passages of another item that are looked at."""


@dataclass(frozen=True, slots=True)
class EdgeProof:
    """The uid of a passage, and its words about an edge."""

    passage: str
    quote: str


async def read_proofs(
    graph: GraphStore, tenant: str, edges: Sequence[Neighbour], own: Mapping[str, Sequence[Node]]
) -> dict[str, EdgeProof]:
    """Return the proof of each edge that a text states, by the edge's id.

    The edges are visible, so the items that state them are, and a passage is if its item is. ``own`` are the passages,
    in order, of items that were read before.
    """
    stated = [one for one in edges if source_of(one.edge) is not None]
    sources = {source for one in stated if (source := source_of(one.edge)) is not None}
    events = {one.node.uid for one in stated if not is_named(one.node) and one.node.content_hash is None}
    wanted = sorted((sources | events) - own.keys())
    proofs = await graph.expand(tenant, wanted, [("EVIDENCED_BY", Direction.OUT)], _MOST) if wanted else []
    passages: dict[str, list[Node]] = {uid: list(nodes) for uid, nodes in own.items()}
    for proof in sorted(proofs, key=lambda one: (one.node.flow_step or 0, one.node.uid)):
        if proof.node.label is Label.CHUNK:
            passages.setdefault(proof.origin, []).append(proof.node)
    folded = {node.uid: fold_case(node.text or "") for nodes in passages.values() for node in nodes}
    found: dict[str, EdgeProof] = {}
    for one in stated:
        if of_source := passages.get(source_of(one.edge) or ""):
            passage = _best(one.node, of_source, passages.get(one.node.uid, ()), folded)
            # A description of what has a name is another text's words.
            end = replace(one.node, text=None) if is_named(one.node) else one.node
            found[one.edge.id] = EdgeProof(passage.uid, quote(passage.text or "", [end]))
    return found


def source_of(edge: Edge) -> str | None:
    """Return the uid of the item whose text states an edge, if one does."""
    source = edge.properties.get(SOURCE_ITEM)
    return str(source) if source is not None else None


def _best(other: Node, passages: Sequence[Node], proven: Sequence[Node], folded: Mapping[str, str]) -> Node:
    """Return the passage that proves the other end, too, else the first that names it, else the first."""
    ends = {passage.uid for passage in proven}
    names = [fold_case(name) for name in (other.name, *other.aliases)]
    proving = (one for one in passages if one.uid in ends)
    naming = (one for one in passages if any(name in folded[one.uid] for name in names))
    return next(proving, None) or next(naming, passages[0])
