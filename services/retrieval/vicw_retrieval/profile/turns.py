"""Turns of a person, and the best of what they say of their speaker, topic by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_retrieval.access.scope import has_ended
from vicw_retrieval.access.visibility import Visibility, filter_results
from vicw_retrieval.profile.statements import TOPICS, SelfStatement, self_statement
from vicw_shared.model import Node
from vicw_shared.ports import Direction, GraphStore, Scope
from vicw_shared.text import fold_case

_MAX_TURNS = 1000
"""Turns of the person that are read."""
_MAX_SPEAKERS = 100
_FIRST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn of a person; ``says`` is None for a request, a joke, thanks and what is of others."""

    node: Node
    text: str
    says: SelfStatement | None


async def read_turns(
    graph: GraphStore, scope: Scope, visibility: Visibility, person: Collection[str]
) -> tuple[list[ToldTurn], bool]:
    """Return the visible turns of a person's nodes that may be results, each text once, the latest first.

    The second is whether these are all: of each node no more than a bound are read.
    """
    leads = await graph.expand(scope.tenant, sorted(person)[:_MAX_SPEAKERS], [("INITIATED", Direction.OUT)], _MAX_TURNS)
    most = max(Counter(one.origin for one in leads).values(), default=0)
    items = {one.node.uid: one.node for one in leads if one.node.content_hash is not None and not one.node.is_macro}
    nodes = await filter_results(graph, scope, await visibility.nodes(list(items.values())))
    nodes.sort(key=lambda node: (node.timestamp or _FIRST, node.created_at, node.uid), reverse=True)
    texts = await graph.texts(scope.tenant, [node.qdrant_id for node in nodes if node.qdrant_id is not None])
    turns: dict[str, ToldTurn] = {}
    for node in nodes:
        text = texts.get(node.qdrant_id or "", "")
        turns.setdefault(" ".join(fold_case(text).split()), ToldTurn(node, text, self_statement(text)))
    return list(turns.values()), most < _MAX_TURNS and len(person) <= _MAX_SPEAKERS


def best_statements(turns: Sequence[ToldTurn], scope: Scope, limit: int) -> list[ToldTurn]:
    """Return the best statements of each topic in turn, up to ``limit``, in order of topic.

    In a topic what holds comes before what was replaced, a state before an event, the later before the earlier.
    """
    by_topic: dict[str, list[ToldTurn]] = {topic: [] for topic in TOPICS}
    for turn in turns:  # the latest first, and the sort keeps that
        if turn.says is not None:
            by_topic[turn.says.topic].append(turn)
    groups = [sorted(group, key=lambda turn: _rank(turn, scope)) for group in by_topic.values()]
    longest = max(map(len, groups), default=0)
    ranked = [(place, number) for place in range(longest) for number, group in enumerate(groups) if place < len(group)]
    return [groups[number][place] for number, place in sorted((number, place) for place, number in ranked[:limit])]


def _rank(turn: ToldTurn, scope: Scope) -> tuple[bool, bool]:
    assert turn.says is not None
    return has_ended(scope, turn.node), not turn.says.lasting
