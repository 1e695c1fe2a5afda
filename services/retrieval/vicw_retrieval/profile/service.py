"""Profile of a person: what the person told of themself, topic by topic, instead of what the search found."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.profile.turns import best_statements, read_turns
from vicw_retrieval.ranking.fusion import Candidate, in_order
from vicw_retrieval.refine.asker_boost import asker_names
from vicw_shared.model.core5 import AGENTS
from vicw_shared.ports import ItemRef, look_up
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

PROFILE = "profile"
_STEP = 1e-3


async def put_profile_first(question: SpreadContext, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates with the ``limit`` best statements of the asker about themself first, topic by topic.

    The asker is the viewer, or without one the only person who speaks among the hits of the one context that is asked.
    The asker's requests, jokes and thanks are left out, unless there is no statement: then nothing changes.
    """
    person = await _person(question, candidates)
    if not person:
        return list(candidates)
    turns, _ = await read_turns(question.graph, question.scope, question.visibility, person)
    chosen = best_statements(turns, question.scope, limit)
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
