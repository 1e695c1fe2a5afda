"""Use case of reading the profile of one person."""

from __future__ import annotations

from vicw_core.filters.predicate import told_at
from vicw_retrieval.access.scope import has_ended
from vicw_retrieval.access.viewer_identity import is_self, same_person
from vicw_retrieval.access.visibility import Visibility, known_by
from vicw_retrieval.items.service import viewer_scope
from vicw_retrieval.ports import RetrievalPorts
from vicw_retrieval.profile.turns import ToldTurn, best_statements, read_turns
from vicw_shared.clock import from_us
from vicw_shared.errors import MissingRecordError
from vicw_shared.ports import Scope
from vicw_shared.uids import is_uid
from vicw_shared.wire.people import PersonProfile, ProfileQuery, ProfileStatement


async def read_profile(uid: str, query: ProfileQuery, tenant: str, ports: RetrievalPorts) -> PersonProfile:
    """Return what a person told of themself. ``uid``: that of the person, or of a user who is this person.

    Raises MissingRecordError if there is no such person, or the viewer does not know of it.
    """
    graph, scope = ports.graph, await viewer_scope(query, tenant, ports, None)
    visibility = Visibility(graph, scope)
    nodes = (await graph.nodes(tenant, [uid.lower()])).values() if is_uid(uid.lower()) else ()
    people = await visibility.known([node for node in nodes if is_self(node)], known_by(ports.registry))
    if not people:
        raise MissingRecordError(f"There is no person {uid!r}")
    (person,) = people
    turns, complete = await read_turns(
        graph, scope, visibility, await same_person(graph, scope, visibility, person.uid)
    )
    told = [turn for turn in turns if turn.says is not None]
    shown = best_statements(told, scope, query.limit)
    return PersonProfile(
        uid=person.uid,
        name=person.name,
        statements=tuple(_statement(turn, scope) for turn in shown),
        complete=complete and len(shown) == len(told),
    )


def _statement(turn: ToldTurn, scope: Scope) -> ProfileStatement:
    assert turn.says is not None
    return ProfileStatement(
        topic=turn.says.topic,
        text=turn.text,
        lasting=turn.says.lasting,
        ended=has_ended(scope, turn.node),
        item=turn.node.uid,
        id=turn.node.source_id,
        context=turn.node.context,
        told_at=from_us(told_at(turn.node)),
    )
