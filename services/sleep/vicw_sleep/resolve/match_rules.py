"""Match rules for two entities with similar names: further evidence is required, and no contradiction is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from vicw_shared.identity.name_similarity import SAME
from vicw_shared.identity.pairs import SimilarPair
from vicw_shared.model import Node
from vicw_shared.model.names import SLOT
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid

type VisibilityKey = tuple[str, bool, frozenset[str]]
"""Visibility of an item: its sensitivity, whether it is portable, and the persons it is about."""

EXACT = frozenset({"user", "agent", "tag", "bucket", "date", "amount", "symbol", "file", SLOT})
"""Subtypes that are never merged by similarity, nor evidence of identity: the application's own names, sorting
criteria, and exact values.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityEvidence:
    """Evidence on a ``thing``, with the ``members`` (uids): itself and the entities merged into it.

    ``edges`` is the number of its edges. ``beside`` are the named things joined to it by an edge; ``told_in`` the
    items, statements and events that mention it; ``threads`` the flows in which it speaks; ``users`` the users who are
    this person; ``relations`` its relatives in both directions (direction, relationship, relative); ``company`` the
    things that items name with it, each with the item's visibility; ``claims`` its attribute claims, the values by
    attribute.
    """

    thing: Node
    members: frozenset[str]
    edges: int = 0
    beside: frozenset[str] = frozenset()
    told_in: frozenset[str] = frozenset()
    threads: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    relations: frozenset[tuple[str, str, str]] = frozenset()
    company: frozenset[tuple[str, VisibilityKey]] = frozenset()
    claims: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, float, str]:
        """Sort key: of two merged entities the higher one is canonical. It has more edges, or is older."""
        return self.edges, -self.thing.created_at.timestamp(), self.thing.uid


def may_be_one(pair: SimilarPair, context: str) -> bool:
    """Return whether the names and kinds of two entities allow a merge by similarity, in a context.

    Names that differ in spelling may name two entities, so such pairs are left to a person. So are two entities of the
    same name: the caller kept these apart deliberately.
    """
    one, other = pair.entities
    kinds = {(node.label, fold_case(node.subtype), node.domain) for node in pair.entities}
    return (
        not pair.spelt
        and pair.score < SAME
        and len(kinds) == 1
        and one.context == other.context == context
        and fold_case(one.subtype) not in EXACT
        and not any(node.protected or _is_namesake(node) for node in pair.entities)
    )


def contradictions(one: EntityEvidence, other: EntityEvidence) -> str:
    """Return the evidence against a merge of two entities; empty: there is none."""
    found = {
        "an edge joins the two": one.beside & other.members or other.beside & one.members,
        "both speak in one conversation": one.threads & other.threads,
        "both speak, and nothing says that they are one user": (
            one.threads and other.threads and not one.users & other.users
        ),
        "one memory names both": one.told_in & other.told_in,
        "they are different users": one.users and other.users and one.users != other.users,
        "they have different relatives": _differ(_by_way(one), _by_way(other)),
        "different things are said of one attribute": _differ(one.claims, other.claims),
    }
    return next((reason for reason, holds in found.items() if holds), "")


def shared_company(one: EntityEvidence, other: EntityEvidence) -> frozenset[str]:
    """Return the things (uids) that items of equal visibility name with both entities."""
    return frozenset(uid for uid, _ in one.company & other.company) - one.members - other.members


def _is_namesake(thing: Node) -> bool:
    """Return whether an entity is one of several of its name: its uid is not derived from the name alone then."""
    names = (thing.name, *thing.aliases)
    return thing.uid not in {named_uid(thing.tenant, thing.context, thing.subtype, name) for name in names}


def _by_way(known: EntityEvidence) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for way, relationship, who in known.relations:
        found.setdefault(way, set()).add((relationship, who))
    return found


def _differ[T](one: Mapping[str, AbstractSet[T]], other: Mapping[str, AbstractSet[T]]) -> bool:
    """Return whether both have values of one key and none in common."""
    return any(key in other and not (values & other[key]) for key, values in one.items())
