"""What a new telling of a named thing goes to: the thing that has the name by now, or that stands for it.

Edges that filters look at (``IN_PAYLOAD``), and which person a user is, stay with what a caller named, whatever it is
merged into: they decide who finds a memory, and must not change with an opinion that may be taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from vicw_shared.canonical import canonical_nodes
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import IN_PAYLOAD, IS_PERSON, TOLD_BY
from vicw_shared.model.names import is_named_thing
from vicw_shared.ports import Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import edge_id, make_uid

_STAYING = IN_PAYLOAD | {IS_PERSON}


@dataclass(frozen=True, slots=True)
class CanonicalNames:
    """By the uid that a name would have: the thing that was ``renamed`` so, and the one that it was ``merged`` into."""

    renamed: Mapping[str, Node]
    merged: Mapping[str, Node]

    def edges(self, told: Iterable[Edge]) -> list[Edge]:
        """Return edges with their ends where they belong; one that would join a thing to itself is left out."""
        moved = [self._moved(edge) for edge in told]
        return [edge for edge in moved if edge.source != edge.target]

    def nodes(self, made: Iterable[Node]) -> list[Node]:
        """Return nodes with those in the place of which others stand exchanged, each once."""
        standing = (self._renamed(node) for node in made)
        return list({(n := self.merged.get(node.uid, node)).uid: n for node in standing}.values())

    def _renamed(self, node: Node) -> Node:
        return self.renamed.get(node.uid, node)

    def _moved(self, edge: Edge) -> Edge:
        # So does whose user said an item: by it, it is judged which person the user is.
        stays = edge.type in _STAYING or (edge.type == "STATED_BY" and TOLD_BY not in edge.properties)
        source, target = (self._end(uid, stays=stays) for uid in (edge.source, edge.target))
        if (source, target) == (edge.source, edge.target):
            return edge
        return replace(edge, id=_id_of(edge, source, target), source=source, target=target)

    def _end(self, uid: str, *, stays: bool) -> str:
        known = self.renamed[uid].uid if uid in self.renamed else uid
        return self.merged[known].uid if known in self.merged and not stays else known


async def canonical_names(lookups: Lookups, context: str, told: Iterable[Node]) -> CanonicalNames:
    """Return what stands in for these things of a context, where something does."""
    things = {node.uid: node for node in told if is_named_thing(node)}
    if not things:
        return CanonicalNames({}, {})
    known = await lookups.nodes(list(things))
    new = [thing for uid, thing in things.items() if uid not in known]
    namesakes = await lookups.named(list({fold_case(thing.name) for thing in new})) if new else {}
    renamed = {
        thing.uid: fitting[0]
        for thing in new
        if len(fitting := _renamed_so(thing, namesakes.get(fold_case(thing.name), ()))) == 1
    }
    standing = await canonical_nodes(lookups, [*known.values(), *renamed.values()], within=context)
    return CanonicalNames(renamed, {uid: node for uid, node in standing.items() if node.uid != uid})


def _id_of(edge: Edge, source: str, target: str) -> str:
    """Return the id that an edge has between other ends, made as its own was: told twice, it is still one."""
    desc, told_by = str(edge.properties.get("desc", "")), str(edge.properties.get(TOLD_BY, ""))
    for kept in product({"", desc}, {"", told_by}):
        if edge_id(edge.type, edge.source, edge.target, desc=kept[0], source_item=kept[1]) == edge.id:
            return edge_id(edge.type, source, target, desc=kept[0], source_item=kept[1])
    return make_uid("edge", edge.id, source, target)


def _renamed_so(thing: Node, namesakes: Sequence[Node]) -> list[Node]:
    """Return those that only a new name keeps from having the uid: a thing has that of the name it had first."""
    kind = (thing.label, fold_case(thing.subtype), thing.source)
    return [node for node in namesakes if node.aliases and (node.label, fold_case(node.subtype), node.source) == kind]
