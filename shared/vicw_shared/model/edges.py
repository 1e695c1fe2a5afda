"""Registry of edge types: their meaning and the labels they may join.

An integration registers a new type at start-up; an edge of an unregistered type is never written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from vicw_shared.errors import FieldProblem, ForbiddenEdgeError, SettingsError, UnknownTypeError
from vicw_shared.model.core5 import Label
from vicw_shared.text import fold_case

Pair = tuple[Label, Label]
SOURCE_ITEM = "item"
"""Edge property: the item whose extraction added the edge."""
DESCRIPTION = "description"
"""Property of a MENTIONS edge: how the item describes the entity."""
IS_PERSON = "IS_PERSON"
ALIAS_OF = "ALIAS_OF"
"""A text says that the source is another name of the target. It proposes a merge, and is none."""
AUTO_TAGGED = "AUTO_TAGGED"
"""A tag that the sleep cycle added. Filters, payloads and indexed text use TAGGED alone."""
IN_PAYLOAD = frozenset({"ABOUT", "TAGGED", AUTO_TAGGED})
"""Types whose changes rewrite the payloads of their source's Chunks: ABOUT and TAGGED are repeated there, for filters.

AUTO_TAGGED is in no payload, but the rewrite notifies clients that keep a copy of the item.
"""


WEAK_TYPES = ("BELONGS_TO", "IS_PERSON", "DESCRIBES", "IMPLEMENTS", "GOVERNS")
"""Types that do not keep a node alive: a node with only such edges may still be an orphan."""


class Category(StrEnum):
    """Categories of edge types."""

    CAUSAL = "CAUSAL"
    TEMPORAL = "TEMPORAL"
    CONFLICT = "CONFLICT"
    SUPPORT = "SUPPORT"
    LINEAGE = "LINEAGE"
    AGENCY = "AGENCY"
    ABOUTNESS = "ABOUTNESS"
    IDENTITY = "IDENTITY"
    STRUCTURAL = "STRUCTURAL"
    DEPENDENCY = "DEPENDENCY"
    SEMANTIC = "SEMANTIC"
    BRIDGE = "BRIDGE"


class OnConsolidate(StrEnum):
    """What happens to an edge when its Event is consolidated into a Macro-Event."""

    REPOINT = "repoint"
    CHAIN = "chain"
    KEEP_COLD = "keep_cold"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class EdgeType:
    """A registered type: its name, category, allowed (source, target) labels and default weight in [0, 1].

    ``target_subtypes`` restricts the target's subtype; empty: any.
    """

    name: str
    category: Category
    pairs: frozenset[Pair]
    weight: float
    on_consolidate: OnConsolidate = OnConsolidate.REPOINT
    target_subtypes: frozenset[str] = frozenset()


class EdgeRegistry:
    """Looks up edge types and rejects unregistered ones."""

    def __init__(self, types: Iterable[EdgeType] = ()) -> None:
        self._types: dict[str, EdgeType] = {}
        self.types: Mapping[str, EdgeType] = MappingProxyType(self._types)
        """The registered types by name."""
        for edge_type in types:
            self.register(edge_type)

    @classmethod
    def with_core_types(cls) -> EdgeRegistry:
        """Return a registry of the types that VICW ships."""
        return cls(CORE_TYPES)

    def __iter__(self) -> Iterator[EdgeType]:
        return iter(self._types.values())

    def register(self, edge_type: EdgeType) -> None:
        """Add a type; registering the same definition twice is allowed.

        Raises SettingsError for an invalid name or weight, or a different definition of a registered name.
        """
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", edge_type.name):
            raise SettingsError(f"edge type {edge_type.name!r}: use capitals, digits and underscores, 64 at most")
        if not 0.0 <= edge_type.weight <= 1.0:
            raise SettingsError(f"edge type {edge_type.name}: weight {edge_type.weight} is outside [0, 1]")
        registered = self._types.setdefault(edge_type.name, edge_type)
        if registered != edge_type:
            raise SettingsError(f"edge type {edge_type.name} is registered already with another meaning")

    def get(self, name: str, *, field: str = "type") -> EdgeType:
        """Return the type called ``name``.

        Raises:
            UnknownTypeError: it is not registered; the message lists the registered types.
        """
        try:
            return self._types[name]
        except KeyError:
            raise UnknownTypeError(
                FieldProblem(field, f"edge type {name!r} is not registered", f"Use one of {', '.join(self._types)}")
            ) from None

    def require(self, names: Iterable[str]) -> None:
        """Raise UnknownTypeError if one of these types is not registered."""
        for name in names:
            self.get(name)

    def check(
        self, name: str, source: Label, target: Label, *, target_subtype: str | None = None, field: str = "type"
    ) -> EdgeType:
        """Return the type if it may join ``source`` to ``target`` of ``target_subtype`` (None: not checked).

        Raises:
            UnknownTypeError: the type is not registered.
            ForbiddenEdgeError: the pair or the target's subtype is not allowed; the message names the allowed ones.
        """
        edge_type = self.get(name, field=field)
        if (source, target) not in edge_type.pairs:
            allowed = ", ".join(sorted(f"{s} → {t}" for s, t in edge_type.pairs))
            raise ForbiddenEdgeError(
                FieldProblem(field, f"{name} may not join {source} → {target}", f"It joins {allowed}")
            )
        subtypes = edge_type.target_subtypes
        if subtypes and target_subtype is not None and fold_case(target_subtype) not in subtypes:
            raise ForbiddenEdgeError(
                FieldProblem(
                    field,
                    f"{name} may not join anything to a {target} of subtype {target_subtype!r}",
                    f"Give the target the subtype {' or '.join(sorted(subtypes))}",
                )
            )
        return edge_type


def _pairs(sources: str, targets: str) -> frozenset[Pair]:
    """Expand two strings of initials (X Context, N Entity, V Event, C Concept, K Chunk) to label pairs."""
    initials = {"X": Label.CONTEXT, "N": Label.ENTITY, "V": Label.EVENT, "C": Label.CONCEPT, "K": Label.CHUNK}
    return frozenset((initials[s], initials[t]) for s in sources for t in targets)


_CONTENT = "NVC"

CORE_TYPES: tuple[EdgeType, ...] = (
    EdgeType("CAUSED", Category.CAUSAL, _pairs("V", "VN"), 1.0),
    EdgeType("ENABLED", Category.CAUSAL, _pairs("VNC", "VN"), 0.8),
    EdgeType("NEXT", Category.TEMPORAL, _pairs("V", "V"), 0.6, OnConsolidate.CHAIN),
    EdgeType("HAPPENED_AFTER", Category.TEMPORAL, _pairs("V", "V"), 0.4, OnConsolidate.CHAIN),
    EdgeType("SUPERSEDES", Category.TEMPORAL, _pairs("NV", "NV") | _pairs("C", "C"), 0.9),
    EdgeType("CONTRADICTS", Category.CONFLICT, _pairs(_CONTENT, _CONTENT), 0.7),
    EdgeType("SUPPORTS", Category.SUPPORT, _pairs(_CONTENT, _CONTENT), 0.7),
    EdgeType("DERIVED_FROM", Category.LINEAGE, _pairs(_CONTENT, _CONTENT + "K"), 0.7, OnConsolidate.KEEP_COLD),
    EdgeType("INITIATED", Category.AGENCY, _pairs("N", "V"), 0.8),
    EdgeType("STATED_BY", Category.AGENCY, _pairs(_CONTENT, "N"), 0.6),
    EdgeType("ABOUT", Category.ABOUTNESS, _pairs(_CONTENT, "NC"), 0.7),
    EdgeType("MENTIONS", Category.ABOUTNESS, _pairs(_CONTENT + "K", "NC"), 0.5),
    EdgeType("TAGGED", Category.ABOUTNESS, _pairs(_CONTENT, "C"), 0.5, target_subtypes=frozenset({"tag", "bucket"})),
    EdgeType(
        AUTO_TAGGED, Category.ABOUTNESS, _pairs("NV", "C"), 0.3, OnConsolidate.DROP, target_subtypes=frozenset({"tag"})
    ),
    EdgeType("IS_PERSON", Category.IDENTITY, _pairs("N", "N"), 1.0),
    EdgeType("MERGED_INTO", Category.IDENTITY, _pairs("N", "N") | _pairs("C", "C"), 1.0),
    EdgeType(ALIAS_OF, Category.IDENTITY, _pairs("N", "N"), 0.7),
    EdgeType("DISTINCT_FROM", Category.IDENTITY, _pairs("N", "N") | _pairs("C", "C"), 0.1),
    EdgeType("HAS_RELATIONSHIP", Category.IDENTITY, _pairs("N", "N"), 0.7),
    EdgeType("BELONGS_TO", Category.STRUCTURAL, _pairs(_CONTENT + "K", "X"), 0.1, OnConsolidate.DROP),
    EdgeType("CONTAINS", Category.STRUCTURAL, _pairs("NC", _CONTENT), 0.5),
    EdgeType("LINKS_TO", Category.STRUCTURAL, _pairs("NC", "NC"), 0.5),
    EdgeType("HAS_ENTRYPOINT", Category.STRUCTURAL, _pairs("NC", "NC"), 0.6),
    EdgeType("HAS_INDEX", Category.STRUCTURAL, _pairs("NC", "NC"), 0.4),
    EdgeType("EVIDENCED_BY", Category.STRUCTURAL, _pairs(_CONTENT, "K"), 1.0, OnConsolidate.KEEP_COLD),
    EdgeType("DEPENDS_ON", Category.DEPENDENCY, _pairs("NC", "NC"), 0.7),
    EdgeType("RELATED_TO", Category.SEMANTIC, _pairs(_CONTENT, _CONTENT), 0.5),
    EdgeType("REFERENCES", Category.SEMANTIC, _pairs(_CONTENT, _CONTENT + "K"), 0.5),
    EdgeType("DESCRIBES", Category.BRIDGE, _pairs("NC", _CONTENT), 0.6),
    EdgeType("IMPLEMENTS", Category.BRIDGE, _pairs(_CONTENT, "NC"), 0.6),
    EdgeType("GOVERNS", Category.BRIDGE, _pairs("NC", _CONTENT), 0.6),
)
