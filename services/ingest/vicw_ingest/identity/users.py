"""Links from users of the application to persons, by the speaker name under the user's id (seed 004, IS_PERSON).

Access to a memory about a person depends on these links, so they rest only on data from the application: the exact
name under which a user speaks, in that context. A person linked to one user is not linked to another by name alone:
that takes an explicit request (``identify``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import batched

from vicw_ingest.extraction.linking.name_match import GUESSES
from vicw_shared.canonical import DISTINCT_FROM
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import IS_PERSON, TOLD_BY
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

    _called: dict[str, list[Node]] = field(default_factory=dict)
    _taken: dict[str, set[str]] = field(default_factory=dict)
    _apart: set[tuple[str, str]] = field(default_factory=set)

    @classmethod
    async def of(cls, lookups: Lookups, root: Node, speakers: Collection[str]) -> UserPersons:
        """Load the entities with the ``speakers``' names, merged or not, and their links to users."""
        if not speakers:
            return cls()
        named = await lookups.named(sorted(set(map(fold_case, speakers))))
        called = {name: [node for node in nodes if _may_speak(node)] for name, nodes in named.items()}
        people = {node.uid for nodes in called.values() for node in nodes}
        # A person without live items may still have a link that was requested explicitly.
        people |= {named_uid(root.tenant, root.context, "person", speaker) for speaker in speakers}
        around = await lookups.edges(sorted(people), [IS_PERSON, DISTINCT_FROM], Direction.IN)
        edges = [edge for edge in around if edge.type == IS_PERSON]
        live = {uid for uid, user in (await lookups.nodes([e.source for e in edges])).items() if not user.retired_at}
        taken: dict[str, set[str]] = {}
        for edge in edges:
            if edge.source in live:
                taken.setdefault(edge.target, set()).add(edge.source)
        return cls(called, taken, {(edge.source, edge.target) for edge in around if edge.type == DISTINCT_FROM})

    def is_called(self, speaker: str) -> bool:
        """Return whether an entity has exactly this name."""
        return bool(self._called.get(fold_case(speaker)))

    def introduce(self, person: Node) -> None:
        """Add a person that this request names for the first time."""
        self._called.setdefault(fold_case(person.name), []).append(person)

    def person(self, user: Node, speaker: str, speaking: Node, stands_for: Callable[[str], str]) -> Node | None:
        """Return the person for a user who speaks under ``speaker``, or None if that is not certain.

        ``stands_for`` returns the canonical uid of an entity. Among several people of one name, ``speaking`` counts.
        """
        called = {node.uid: node for node in self._called.get(fold_case(speaker), ())}
        own = named_uid(user.tenant, user.context, "person", speaker)
        meant = own if own in called and stands_for(own) == speaking.uid else speaking.uid
        is_new = meant == speaking.uid not in called and fold_case(speaking.name) == fold_case(speaker)
        found = speaking if is_new else called.get(meant) or called.get(own)
        if found is None and len(called) == 1:
            (found,) = called.values()
        if found is None or (user.uid, found.uid) in self._apart:
            return None
        return found if self._taken.setdefault(found.uid, {user.uid}) == {user.uid} else None


def _may_speak(node: Node) -> bool:
    return node.label is Label.ENTITY and fold_case(node.subtype) in _SPEAKING


async def release_users(
    transaction: GraphTransaction, users: Sequence[Node], gone: Collection[str], told: Collection[str]
) -> None:
    """Drop IS_PERSON edges of these users that no live item supports, and all of the users that are ``gone``.

    Edges from a person's request or an extraction stay. ``told`` are the ids of edges that the transaction has put.
    """
    edges = await transaction.edges([user.uid for user in users], [IS_PERSON], Direction.OUT) if users else []
    doubtful = [e for e in edges if e.created_by == BY and TOLD_BY not in e.properties and e.id not in told]
    unsaid = [edge for edge in doubtful if edge.source in gone]
    kept = [edge for edge in doubtful if edge.source not in gone]
    if kept:
        said = await _supported_edges(transaction, kept)
        unsaid += [edge for edge in kept if edge.id not in said]
    await transaction.drop_edges(unsaid)


async def _supported_edges(lookups: Lookups, edges: Iterable[Edge]) -> set[str]:
    """Return the ids of IS_PERSON edges that a live item supports: the user speaks in it under the person's name."""
    open_ = {edge.id: edge for edge in edges}
    people = await lookups.nodes([edge.target for edge in open_.values()])
    names = {uid: {*map(fold_case, (person.name, *person.aliases))} for uid, person in people.items()}
    said: set[str] = set()
    stated = await lookups.edges(list({edge.source for edge in open_.values()}), [STATED_BY], Direction.IN)
    user_of = {edge.source: edge.target for edge in stated}
    for batch in batched(user_of, _BATCH):
        items = [item for item in (await lookups.nodes(batch)).values() if item.retired_at is None and item.speaker]
        for item in items:
            name, user = fold_case(item.speaker or ""), user_of[item.uid]
            said |= {e.id for e in open_.values() if e.source == user and name in names.get(e.target, ())}
        if said == open_.keys():
            break
    return said
