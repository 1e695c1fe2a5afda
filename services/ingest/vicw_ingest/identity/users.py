"""Links from users of the application to persons, by the speaker name under the user's id.

Access to a memory about a person depends on these links, so they rest only on data from the application: the exact
name under which a user speaks, in that context. A person linked to one user is not linked to another by name alone:
that takes an explicit request (``identify``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched

from vicw_core.graph.canonical import DISTINCT_FROM
from vicw_ingest.plan.linking.name_match import GUESSES
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import IS_PERSON, SOURCE_ITEM
from vicw_shared.ports import Direction, GraphTransaction, Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid

USER = "user"
STATED_BY = "STATED_BY"
BY = "ingest"
_SPEAKING = frozenset({"person", "agent"}) | GUESSES
_BATCH = 500


@dataclass(slots=True)
class UserPersons:
    """Users of one request: the entities with their speaker names, and the users already linked to these."""

    _nodes_by_name: dict[str, list[Node]] = field(default_factory=dict)
    _users_by_person: dict[str, set[str]] = field(default_factory=dict)
    _distinct: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    async def of(cls, lookups: Lookups, root: Node, speakers: Collection[str]) -> UserPersons:
        """Load the entities with the ``speakers``' names, merged or not, and their links to users."""
        if not speakers:
            return cls()
        named = await lookups.named(sorted(set(map(fold_case, speakers))))
        nodes_by_name = {name: [node for node in nodes if _may_speak(node)] for name, nodes in named.items()}
        people = {node.uid for nodes in nodes_by_name.values() for node in nodes}
        # A person without live items may still have a link that was requested explicitly.
        people |= {named_uid(root.tenant, root.context, "person", speaker) for speaker in speakers}
        incoming = await lookups.edges(sorted(people), [IS_PERSON, DISTINCT_FROM], Direction.IN)
        edges = [edge for edge in incoming if edge.type == IS_PERSON]
        live = {uid for uid, user in (await lookups.nodes([e.source for e in edges])).items() if not user.retired_at}
        users_by_person: dict[str, set[str]] = {}
        for edge in edges:
            if edge.source in live:
                users_by_person.setdefault(edge.target, set()).add(edge.source)
        return cls(
            nodes_by_name,
            users_by_person,
            {(edge.source, edge.target) for edge in incoming if edge.type == DISTINCT_FROM},
        )

    def has_name(self, speaker: str) -> bool:
        """Return whether an entity has exactly this name."""
        return bool(self._nodes_by_name.get(fold_case(speaker)))

    def introduce(self, person: Node) -> None:
        """Add a person that this request names for the first time."""
        self._nodes_by_name.setdefault(fold_case(person.name), []).append(person)

    def person(self, user: Node, speaker: str, speaker_node: Node, canonical_uid: Callable[[str], str]) -> Node | None:
        """Return the person for a user who speaks under ``speaker``, or None if that is not certain.

        ``canonical_uid`` maps a uid to that of its canonical entity. Of several people of one name, ``speaker_node``
        counts.
        """
        namesakes = {node.uid: node for node in self._nodes_by_name.get(fold_case(speaker), ())}
        own_uid = named_uid(user.tenant, user.context, "person", speaker)
        meant_uid = own_uid if own_uid in namesakes and canonical_uid(own_uid) == speaker_node.uid else speaker_node.uid
        is_new = meant_uid == speaker_node.uid not in namesakes and fold_case(speaker_node.name) == fold_case(speaker)
        match = speaker_node if is_new else namesakes.get(meant_uid) or namesakes.get(own_uid)
        if match is None and len(namesakes) == 1:
            (match,) = namesakes.values()
        if match is None or (user.uid, match.uid) in self._distinct:
            return None
        return match if self._users_by_person.setdefault(match.uid, {user.uid}) == {user.uid} else None


def _may_speak(node: Node) -> bool:
    return node.label is Label.ENTITY and fold_case(node.subtype) in _SPEAKING


async def drop_unsupported_users(
    transaction: GraphTransaction, users: Sequence[Node], retired: Collection[str], stored_edges: Collection[str]
) -> None:
    """Drop IS_PERSON edges of these users that no live item supports, and all of the users that are ``retired``.

    Edges from a person's request or an extraction stay. ``stored_edges`` has the ids of edges that the transaction put.
    """
    edges = await transaction.edges([user.uid for user in users], [IS_PERSON], Direction.OUT) if users else []
    doubtful = [e for e in edges if e.created_by == BY and SOURCE_ITEM not in e.properties and e.id not in stored_edges]
    unsupported = [edge for edge in doubtful if edge.source in retired]
    remaining = [edge for edge in doubtful if edge.source not in retired]
    if remaining:
        supported = await _supported_edges(transaction, remaining)
        unsupported += [edge for edge in remaining if edge.id not in supported]
    await transaction.drop_edges(unsupported)


async def _supported_edges(lookups: Lookups, edges: Iterable[Edge]) -> set[str]:
    """Return the ids of IS_PERSON edges that a live item supports: the user speaks in it under the person's name."""
    edges_by_id = {edge.id: edge for edge in edges}
    people = await lookups.nodes([edge.target for edge in edges_by_id.values()])
    names = {uid: {*map(fold_case, (person.name, *person.aliases))} for uid, person in people.items()}
    supported: set[str] = set()
    stated = await lookups.edges(list({edge.source for edge in edges_by_id.values()}), [STATED_BY], Direction.IN)
    user_of = {edge.source: edge.target for edge in stated}
    for batch in batched(user_of, _BATCH):
        items = [item for item in (await lookups.nodes(batch)).values() if item.retired_at is None and item.speaker]
        for item in items:
            name, user = fold_case(item.speaker or ""), user_of[item.uid]
            supported |= {e.id for e in edges_by_id.values() if e.source == user and name in names.get(e.target, ())}
        if supported == edges_by_id.keys():
            break
    return supported
