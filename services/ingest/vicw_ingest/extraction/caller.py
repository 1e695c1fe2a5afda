"""Resolve the caller's own extraction to nodes and edges and check it against the edge registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import EdgeRegistry, Label
from vicw_shared.model.edges import AUTO_TAGGED
from vicw_shared.text import fold_case
from vicw_shared.uids import extracted_event_uid, named_uid
from vicw_shared.wire.extraction import EntityInput, EventInput, Extraction, Relation

SELF = "$item"
DERIVED_TYPES = frozenset(
    {"NEXT", "HAPPENED_AFTER", "BELONGS_TO", "EVIDENCED_BY", "SUPERSEDES", "MERGED_INTO", "DISTINCT_FROM"}
    | {AUTO_TAGGED}
)
"""Types that VICW derives. From a caller they would break chains, proof or history, or look like auto-tags."""


@dataclass(frozen=True, slots=True)
class EdgeEnd:
    """A node that a relation may reference."""

    uid: str
    label: Label
    subtype: str


@dataclass(frozen=True, slots=True)
class CallerNode:
    """A node of the extraction."""

    end: EdgeEnd
    input: EntityInput | EventInput


@dataclass(frozen=True, slots=True)
class CallerEdge:
    """A checked relation; ``path`` is its place in the request."""

    type: str
    source: EdgeEnd
    target: EdgeEnd
    weight: float
    path: str
    properties: Mapping[str, object] = field(default_factory=dict)


def caller_nodes(extraction: Extraction, *, tenant: str, context: str, item: str, path: str) -> dict[str, CallerNode]:
    """Return the nodes of the extraction by local id. Raises InvalidInputError for a local id used twice."""
    nodes: dict[str, CallerNode] = {}

    def add(given: EntityInput | EventInput, end: EdgeEnd, where: str) -> None:
        local = given.id or given.name
        node = nodes.setdefault(local, CallerNode(end, given))
        if node.end != end:
            raise InvalidInputError(
                FieldProblem(where, f"the local id {local!r} names two nodes", "Give each an `id` of its own")
            )

    for kind, label, default in (("entities", Label.ENTITY, "thing"), ("concepts", Label.CONCEPT, "idea")):
        inputs: tuple[EntityInput, ...] = getattr(extraction, kind)
        for index, entity in enumerate(inputs):
            subtype = entity.subtype or default
            uid = named_uid(tenant, context, subtype, entity.name)
            add(entity, EdgeEnd(uid, label, subtype), f"{path}.{kind}[{index}]")
    for index, event in enumerate(extraction.events):
        uid = extracted_event_uid(item, f"id {event.id}" if event.id is not None else f"name {fold_case(event.name)}")
        add(event, EdgeEnd(uid, Label.EVENT, event.subtype or "event"), f"{path}.events[{index}]")
    return nodes


def caller_edges(
    extraction: Extraction, *, registry: EdgeRegistry, resolve: Callable[[str], EdgeEnd | None], path: str
) -> list[CallerEdge]:
    """Return the relations as checked edges.

    Raises InvalidInputError for an unresolved end or for an edge from a node to itself, UnknownTypeError for an
    unregistered type, ForbiddenEdgeError for labels that the type may not join.
    """
    return [
        _edge(relation, registry, resolve, f"{path}.relations[{index}]")
        for index, relation in enumerate(extraction.relations)
    ]


def _edge(
    relation: Relation, registry: EdgeRegistry, resolve: Callable[[str], EdgeEnd | None], path: str
) -> CallerEdge:
    if relation.type in DERIVED_TYPES:
        raise InvalidInputError(
            FieldProblem(
                f"{path}.type",
                f"{relation.type} is set by VICW",
                "Leave it out; order comes from timestamp and flow_step, a new version from ingesting the id again",
            )
        )
    edge_type = registry.get(relation.type, field=f"{path}.type")
    source = _end(relation.source, resolve, f"{path}.source")
    target = _end(relation.target, resolve, f"{path}.target")
    if source.uid == target.uid:
        raise InvalidInputError(FieldProblem(path, "joins a node to itself", "Name two nodes"))
    registry.check(relation.type, source.label, target.label, target_subtype=target.subtype, field=f"{path}.type")
    properties = {"certainty": relation.certainty, "desc": relation.desc}
    return CallerEdge(
        relation.type,
        source,
        target,
        relation.weight if relation.weight is not None else edge_type.weight,
        path,
        {name: value for name, value in properties.items() if value is not None},
    )


def _end(reference: str, resolve: Callable[[str], EdgeEnd | None], path: str) -> EdgeEnd:
    end = resolve(reference)
    if end is None:
        raise InvalidInputError(
            FieldProblem(
                path,
                f"{reference!r} matches no node",
                f"Give a local id of this extraction, {SELF!r} for the item, or the id of an item in this context",
            )
        )
    return end
