"""Profile of a person: what the person told of themself, topic by topic, instead of what the search found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_retrieval.access.scope import has_ended
from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.profile.statements import TOPICS, SelfStatement, self_statement
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.refine.asker_boost import asker_names
from vicw_shared.model import Node
from vicw_shared.model.core5 import AGENTS
from vicw_shared.ports import Direction, ItemRef, look_up
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

PROFILE = "profile"
_MAX_TURNS = 1000
"""Turns of the person that are read."""
_MAX_SPEAKERS = 100
_FIRST = datetime.min.replace(tzinfo=UTC)
_STEP = 1e-3


@dataclass(frozen=True, slots=True)
class _Told:
    """A turn of the person; ``says`` is None for a request, a joke, thanks and what is of others."""

    node: Node
    text: str
    says: SelfStatement | None


async def put_profile_first(question: SpreadContext, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates with the ``limit`` best statements of the asker about themself first, topic by topic.

    The asker is the viewer, or without one the only person who speaks among the hits of the one context that is asked.
    The asker's requests, jokes and thanks are left out, unless there is no statement: then nothing changes.
    """
    person = await _person(question, candidates)
    turns = await _turns(question, person) if person else []
    chosen = _choose([turn for turn in turns if turn.says is not None], question, limit)
    if not chosen:
        return list(candidates)
    known = {one.key: one for one in candidates}
    empty = {turn.node.uid for turn in turns if turn.says is None}
    top = max((one.score for one in candidates), default=0.0) + _STEP * (len(chosen) + 1)
    first = []
    for place, turn in enumerate(chosen):
        assert turn.node.qdrant_id is not None
        one = known.get(turn.node.uid) or Candidate(ItemRef.of(turn.node), 0.0, [(turn.node.qdrant_id, 0.0)])
        first.append(one.raised(profile=top - place * _STEP - one.score))
    taken = {one.key for one in first}
    return in_order([*first, *(one for one in candidates if one.key not in taken | empty)])


async def _person(question: SpreadContext, candidates: Sequence[Candidate]) -> set[str]:
    """Return the uids of the person who asks, as far as there is one."""
    scope, graph = question.scope, question.graph
    if scope.audience is not None:
        uids = {identity for identity in scope.audience.identities if is_uid(identity)}
        names = await asker_names(graph, scope)
    else:
        uids, names = set(), _only_speaker(candidates) if scope.contexts is not None else frozenset()
    named = await look_up(graph, scope.tenant, sorted(names), contexts=scope.contexts) if names else {}
    return uids | {node.uid for nodes in named.values() for node in nodes}


def _only_speaker(candidates: Sequence[Candidate]) -> frozenset[str]:
    speakers = {fold_case(one.item.speaker) for one in candidates if one.item.speaker} - AGENTS
    return frozenset(speakers) if len(speakers) == 1 else frozenset()


async def _turns(question: SpreadContext, person: Collection[str]) -> list[_Told]:
    """Return the person's visible turns that may be results, each text once, the latest first."""
    graph, scope = question.graph, question.scope
    leads = await graph.expand(scope.tenant, sorted(person)[:_MAX_SPEAKERS], [("INITIATED", Direction.OUT)], _MAX_TURNS)
    items = {one.node.uid: one.node for one in leads if one.node.content_hash is not None and not one.node.is_macro}
    nodes = await filter_results(graph, scope, await question.visibility.nodes(list(items.values())))
    nodes.sort(key=lambda node: (node.timestamp or _FIRST, node.created_at, node.uid), reverse=True)
    texts = await graph.texts(scope.tenant, [node.qdrant_id for node in nodes if node.qdrant_id is not None])
    turns: dict[str, _Told] = {}
    for node in nodes:
        text = texts.get(node.qdrant_id or "", "")
        turns.setdefault(" ".join(fold_case(text).split()), _Told(node, text, self_statement(text)))
    return list(turns.values())


def _choose(turns: Sequence[_Told], question: SpreadContext, limit: int) -> list[_Told]:
    """Return the best of each topic in turn, up to ``limit``, in order of topic.

    In a topic what holds comes before what was replaced, a state before an event, the later before the earlier.
    """
    by_topic: dict[str, list[_Told]] = {topic: [] for topic in TOPICS}
    for turn in turns:  # the latest first, and the sort keeps that
        assert turn.says is not None
        by_topic[turn.says.topic].append(turn)
    groups = [sorted(group, key=lambda turn: _rank(turn, question)) for group in by_topic.values()]
    longest = max(map(len, groups), default=0)
    ranked = [(place, number) for place in range(longest) for number, group in enumerate(groups) if place < len(group)]
    return [groups[number][place] for number, place in sorted((number, place) for place, number in ranked[:limit])]


def _rank(turn: _Told, question: SpreadContext) -> tuple[bool, bool]:
    assert turn.says is not None
    return has_ended(question.scope, turn.node), not turn.says.lasting
