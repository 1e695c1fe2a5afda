"""Name resolution for new mentions: the entity that was renamed to the name, or the canonical entity.

Edges that filters use (``IN_PAYLOAD``), and IS_PERSON edges, stay with the entity that the caller named, even if it is
merged: they control access to a memory, and must not change with a merge that may be undone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from vicw_core.graph.canonical import canonical_nodes
from vicw_shared.model import Edge, Node
from vicw_shared.model.edges import IN_PAYLOAD, IS_PERSON, SOURCE_ITEM
from vicw_shared.model.names import is_named_node
from vicw_shared.ports import Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import edge_id, make_uid

_NOT_REPOINTED = IN_PAYLOAD | {IS_PERSON}


@dataclass(frozen=True, slots=True)
class CanonicalNames:
    """Replacements of named entities. ``renamed``: by the uid of a name, the entity with that new name.

    ``merged``: by an entity's uid, its canonical entity.
    """

    renamed: Mapping[str, Node]
    merged: Mapping[str, Node]

    def edges(self, edges: Iterable[Edge]) -> list[Edge]:
        """Return edges with their ends replaced, without those that would become loops."""
        repointed = [self._repointed(edge) for edge in edges]
        return [edge for edge in repointed if edge.source != edge.target]

    def nodes(self, nodes: Iterable[Node]) -> list[Node]:
        """Return nodes with replaced ones exchanged, without repetitions."""
        renamed = (self._renamed(node) for node in nodes)
        return list({(n := self.merged.get(node.uid, node)).uid: n for node in renamed}.values())

    def _renamed(self, node: Node) -> Node:
        return self.renamed.get(node.uid, node)

    def _repointed(self, edge: Edge) -> Edge:
        # An item's own STATED_BY edge stays, too: IS_PERSON is decided by it.
        stays = edge.type in _NOT_REPOINTED or (edge.type == "STATED_BY" and SOURCE_ITEM not in edge.properties)
        source, target = (self._end(uid, stays=stays) for uid in (edge.source, edge.target))
        if (source, target) == (edge.source, edge.target):
            return edge
        return replace(edge, id=_id_of(edge, source, target), source=source, target=target)

    def _end(self, uid: str, *, stays: bool) -> str:
        current = self.renamed[uid].uid if uid in self.renamed else uid
        return self.merged[current].uid if current in self.merged and not stays else current


async def canonical_names(
    lookups: Lookups, context: str, nodes: Iterable[Node], stored: Mapping[str, Node]
) -> CanonicalNames:
    """Return the replacements of the named entities among a context's ``nodes``; ``stored`` are those in the graph."""
    entities = {node.uid: node for node in nodes if is_named_node(node)}
    if not entities:
        return CanonicalNames({}, {})
    known = [node for uid, node in stored.items() if uid in entities]
    new = [entity for uid, entity in entities.items() if uid not in stored]
    namesakes = await lookups.named(list({fold_case(entity.name) for entity in new})) if new else {}
    renamed = {
        entity.uid: fitting[0]
        for entity in new
        if len(fitting := _renamed_namesakes(entity, namesakes.get(fold_case(entity.name), ()))) == 1
    }
    canonical = await canonical_nodes(lookups, [*known, *renamed.values()], within=context)
    return CanonicalNames(renamed, {uid: node for uid, node in canonical.items() if node.uid != uid})


def _id_of(edge: Edge, source: str, target: str) -> str:
    """Return the id of an edge with other ends, built by the same scheme, so that repeated edges stay one."""
    desc, source_item = str(edge.properties.get("desc", "")), str(edge.properties.get(SOURCE_ITEM, ""))
    for parts in product({"", desc}, {"", source_item}):
        if edge_id(edge.type, edge.source, edge.target, desc=parts[0], source_item=parts[1]) == edge.id:
            return edge_id(edge.type, source, target, desc=parts[0], source_item=parts[1])
    return make_uid("edge", edge.id, source, target)


def _renamed_namesakes(entity: Node, namesakes: Sequence[Node]) -> list[Node]:
    """Return the renamed entities of the same kind. A renamed entity keeps the uid of its first name."""
    kind = (entity.label, fold_case(entity.subtype), entity.source)
    return [node for node in namesakes if node.aliases and (node.label, fold_case(node.subtype), node.source) == kind]
