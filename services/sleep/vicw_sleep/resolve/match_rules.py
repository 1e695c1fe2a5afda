"""Whether two things of like names are one: only where something besides the names says so, and nothing against it."""

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
"""Who may see an item: its sensitivity, whether it is portable, and whom it is about."""

EXACT = frozenset({"user", "agent", "tag", "bucket", "date", "amount", "symbol", "file", SLOT})
"""Subtypes that are not merged by likeness, and are no company that tells who somebody is: the application's own
names, what people sort by, and what is exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityEvidence:
    """What is known of a ``thing``, with the ``members`` (uids) that were merged into it, and itself.

    ``edges``: how many. ``beside`` are the named things that an edge joins it to, ``told_in`` the items, statements and
    events that tell of it, ``threads`` those in which it speaks, ``users`` those who are this person, ``relations``
    whose relative it is, and who is its (each the way, the relationship and who), ``company`` the things that items
    name with it, each with who may see that, ``claims`` what is said of its attributes, the values by attribute.
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
        """By which of two the one stands for the other that is higher: more is known of it, else it is older."""
        return self.edges, -self.thing.created_at.timestamp(), self.thing.uid


def may_be_one(pair: SimilarPair, context: str) -> bool:
    """Tell whether the names and the kinds of two things allow for a merge by likeness, in a context.

    Where letters differ, that letter may be all that tells the two apart: such pairs are for a person to judge. So are
    two of the very same name, which whoever named them took care to keep apart.
    """
    one, other = pair.things
    kinds = {(node.label, fold_case(node.subtype), node.domain) for node in pair.things}
    return (
        not pair.spelt
        and pair.score < SAME
        and len(kinds) == 1
        and one.context == other.context == context
        and fold_case(one.subtype) not in EXACT
        and not any(node.protected or _is_namesake(node) for node in pair.things)
    )


def contradictions(one: EntityEvidence, other: EntityEvidence) -> str:
    """Return what says that two things are two; empty: nothing does."""
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
    """Return the things (uids) that items name with the one and, for the very same eyes, with the other."""
    return frozenset(uid for uid, _ in one.company & other.company) - one.members - other.members


def _is_namesake(thing: Node) -> bool:
    """Tell whether a thing is one of several of its name: its uid is not made of the name alone then."""
    names = (thing.name, *thing.aliases)
    return thing.uid not in {named_uid(thing.tenant, thing.context, thing.subtype, name) for name in names}


def _by_way(known: EntityEvidence) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for way, relationship, who in known.relations:
        found.setdefault(way, set()).add((relationship, who))
    return found


def _differ[T](one: Mapping[str, AbstractSet[T]], other: Mapping[str, AbstractSet[T]]) -> bool:
    """Tell whether something is known of both, and not once the same."""
    return any(key in other and not (values & other[key]) for key, values in one.items())
