"""Match rules for two entities with similar names: further evidence is required, and no contradiction is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from vicw_core.identity.name_similarity import SAME
from vicw_core.identity.pairs import SimilarPair
from vicw_shared.model import Node
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid

type VisibilityKey = tuple[str, bool, frozenset[str]]
"""Visibility of an item: its sensitivity, whether it is portable, and the persons it is about."""

EXACT = frozenset({"user", "agent", "tag", "bucket", "date", "amount", "symbol", "file", ATTRIBUTE})
"""Subtypes that are never merged by similarity, nor evidence of identity: the application's own names, sorting
criteria, and exact values.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityEvidence:
    """Evidence on an ``entity``, with the ``members`` (uids): itself and the entities merged into it.

    ``edges`` is the number of its edges. ``neighbours`` are the entities joined to it by an edge; ``mentioned_in`` the
    items, statements and events that mention it; ``flows`` the flows in which it speaks; ``users`` the users who are
    this person; ``relations`` its relatives in both directions (direction, relationship, relative); ``co_mentioned``
    the entities that items name with it, each with the item's visibility; ``claims`` its attribute claims, the values
    by attribute.
    """

    entity: Node
    members: frozenset[str]
    edges: int = 0
    neighbours: frozenset[str] = frozenset()
    mentioned_in: frozenset[str] = frozenset()
    flows: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    relations: frozenset[tuple[str, str, str]] = frozenset()
    co_mentioned: frozenset[tuple[str, VisibilityKey]] = frozenset()
    claims: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[int, float, str]:
        """Sort key: of two merged entities the higher one is canonical. It has more edges, or is older."""
        return self.edges, -self.entity.created_at.timestamp(), self.entity.uid


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
    checks = {
        "an edge joins the two": one.neighbours & other.members or other.neighbours & one.members,
        "both speak in one conversation": one.flows & other.flows,
        "both speak, and nothing says that they are one user": (
            one.flows and other.flows and not one.users & other.users
        ),
        "one memory names both": one.mentioned_in & other.mentioned_in,
        "they are different users": one.users and other.users and one.users != other.users,
        "they have different relatives": _differ(_by_direction(one), _by_direction(other)),
        "they have different values of one attribute": _differ(one.claims, other.claims),
    }
    return next((reason for reason, holds in checks.items() if holds), "")


def shared_co_mentions(one: EntityEvidence, other: EntityEvidence) -> frozenset[str]:
    """Return the entities (uids) that items of equal visibility name with both."""
    return frozenset(uid for uid, _ in one.co_mentioned & other.co_mentioned) - one.members - other.members


def _is_namesake(entity: Node) -> bool:
    """Return whether an entity is one of several of its name: its uid is not derived from the name alone then."""
    names = (entity.name, *entity.aliases)
    return entity.uid not in {named_uid(entity.tenant, entity.context, entity.subtype, name) for name in names}


def _by_direction(evidence: EntityEvidence) -> dict[str, set[tuple[str, str]]]:
    relatives: dict[str, set[tuple[str, str]]] = {}
    for direction, relationship, relative in evidence.relations:
        relatives.setdefault(direction, set()).add((relationship, relative))
    return relatives


def _differ[T](one: Mapping[str, AbstractSet[T]], other: Mapping[str, AbstractSet[T]]) -> bool:
    """Return whether both have values of one key and none in common."""
    return any(key in other and not (values & other[key]) for key, values in one.items())
