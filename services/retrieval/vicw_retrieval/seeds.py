"""Where a question enters the graph by the words that callers gave their items for it (seed 002 §5.2, step 1)."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.sight import Sight
from vicw_shared.model import Node
from vicw_shared.model.triggers import phrases_in
from vicw_shared.ports import Direction, GraphStore, Scope
from vicw_shared.settings import RetrievalSettings
from vicw_shared.text import fold

_FIRST_LOOK = 20
_WIDER = 8
_MOST_TAGS = 200


async def seeds_of(question: str, scope: Scope, graph: GraphStore, settings: RetrievalSettings) -> list[Node]:
    """Return the items of which ``question`` has a trigger phrase, as far as ``scope`` may see and wants them.

    What is protected comes first, then what weighs most; ``settings.seeds`` at most. Of each phrase no more than
    ``settings.fanout_read`` items are read to find those that may be seen.
    """
    phrases = phrases_in(question) if settings.seeds else []
    sight, limit = Sight(graph, scope), min(_FIRST_LOOK, settings.fanout_read)
    while phrases:
        found = await graph.triggered(scope.tenant, phrases, contexts=scope.contexts, limit=limit)
        wanted = await _wanted(graph, scope, await sight.nodes(found))
        if len(wanted) >= settings.seeds or len(found) < limit or limit >= settings.fanout_read:
            return wanted[: settings.seeds]
        limit = min(limit * _WIDER, settings.fanout_read)
    return []


async def _wanted(graph: GraphStore, scope: Scope, items: Sequence[Node]) -> list[Node]:
    """Keep what has a passage, and is of the domains and tags that the caller asks for: by its edges."""
    kept = [n for n in items if n.qdrant_id is not None and (scope.domains is None or n.domain in scope.domains)]
    any_of, all_of, none_of = map(set, (scope.tags_any, scope.tags_all, scope.tags_none))
    if not kept or not (any_of or all_of or none_of):
        return kept
    tags: dict[str, set[str]] = {node.uid: set() for node in kept}
    for found in await graph.expand(scope.tenant, list(tags), [("TAGGED", Direction.OUT)], _MOST_TAGS):
        if fold(found.node.subtype) != "bucket":
            tags[found.origin] |= {*map(fold, (found.node.name, *found.node.aliases))}

    def fits(of: set[str]) -> bool:
        return (not any_of or bool(any_of & of)) and all_of <= of and not none_of & of

    return [node for node in kept if fits(tags[node.uid])]
