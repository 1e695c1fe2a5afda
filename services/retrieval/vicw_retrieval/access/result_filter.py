"""Filter of an answer's results: items that hold at the time of the scope, of its domains and tags."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.access.scope import holds_in_scope
from vicw_shared.model import Node
from vicw_shared.ports import Direction, GraphStore, Scope
from vicw_shared.text import fold_case

_MAX_TAGS = 200


async def filter_results(graph: GraphStore, scope: Scope, items: Sequence[Node]) -> list[Node]:
    """Keep the items whose passage holds at the time of ``scope`` and that have its domain and tags."""
    kept = [n for n in items if n.qdrant_id is not None and (scope.domains is None or n.domain in scope.domains)]
    # An item may hold although its text was replaced: only its passage shows this.
    passages = await graph.nodes(scope.tenant, [node.qdrant_id for node in kept if node.qdrant_id is not None])
    kept = [n for n in kept if n.qdrant_id in passages and holds_in_scope(scope, passages[n.qdrant_id])]
    any_of, all_of, none_of = map(set, (scope.tags_any, scope.tags_all, scope.tags_none))
    if not kept or not (any_of or all_of or none_of):
        return kept
    tags: dict[str, set[str]] = {node.uid: set() for node in kept}
    for neighbour in await graph.expand(scope.tenant, list(tags), [("TAGGED", Direction.OUT)], _MAX_TAGS):
        if fold_case(neighbour.node.subtype) != "bucket":
            tags[neighbour.origin] |= {*map(fold_case, (neighbour.node.name, *neighbour.node.aliases))}

    def fits(item_tags: set[str]) -> bool:
        return (not any_of or bool(any_of & item_tags)) and all_of <= item_tags and not none_of & item_tags

    return [node for node in kept if fits(tags[node.uid])]
