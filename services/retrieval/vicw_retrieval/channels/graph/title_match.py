"""Pages whose title the question names: starting points of a walk through knowledge."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.access.result_filter import filter_results
from vicw_retrieval.channels.graph.spread_context import SpreadContext
from vicw_retrieval.model.spread_paths import ReachedItems, SpreadPath, SubGraph
from vicw_shared.model import Node
from vicw_shared.ports import NameMatch, NameQuery, look_up

TITLE_GAIN = 0.3
"""Gain of a page that the question names, as a share of the best strength."""
_NAMESAKES = 8


async def reach_named_pages(question: SpreadContext, reached: ReachedItems) -> None:
    """Reach the Entity items whose title is in the question."""
    pages = await find_titled(question, sorted(question.phrases))
    nodes = {node.uid: node for same in pages.values() for node in same if _is_name(node.title or node.name)}
    reached.add_nodes(await filter_results(question.graph, question.scope, list(nodes.values())))
    for uid in reached.nodes:
        reached.paths[uid] = SpreadPath(uid, TITLE_GAIN * question.best, 0, "TITLE", SubGraph.KNOWLEDGE)


def title_query(question: SpreadContext) -> NameQuery:
    """Return the title look-up of the question's phrases."""
    return NameQuery(NameMatch.TITLE, tuple(sorted(question.phrases)), question.visibility.read_limit(_NAMESAKES))


async def find_titled(question: SpreadContext, phrases: Sequence[str]) -> dict[str, list[Node]]:
    """Return, by phrase, the visible Entity items with this title, a few for each."""
    scope = question.scope
    limit = question.visibility.read_limit(_NAMESAKES)
    by_phrase = await look_up(
        question.graph, scope.tenant, phrases, by=NameMatch.TITLE, contexts=scope.contexts, limit=limit
    )
    all_nodes = {node.uid: node for same in by_phrase.values() for node in same}
    visible = {node.uid for node in await question.visibility.nodes(list(all_nodes.values()))}
    return {phrase: [node for node in same if node.uid in visible][:_NAMESAKES] for phrase, same in by_phrase.items()}


def _is_name(title: str) -> bool:
    """Return whether a title is a name, not a common word as functions have (``sort``): questions contain many such."""
    return not (title.isalpha() and title.islower())
