"""Attribute claims as nodes and edges: one slot for each attribute of each entity, and the source of each claim.

A slot is a Concept of subtype ``attribute``. All statements of a slot concern the same attribute of the same entity, in
one domain, with the same visibility: only these can supersede each other (docs/decisions/0021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vicw_core.graph.edge_factory import EdgeFactory
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.extraction import SPEAKER, AttributeClaim
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid


def is_claim(edge: Edge) -> bool:
    """Return whether a MENTIONS edge leads from a statement to a slot; its properties are then the claim."""
    return "attribute" in edge.properties


@dataclass(slots=True)
class ClaimParts:
    """Slots, and the edges from statements to slots and sources."""

    slots: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ClaimWriter:
    """Build the slots and edges of one item's attribute claims.

    ``about`` has the uids of the people who may see the item; ``by`` names the extractor.
    """

    edge_factory: EdgeFactory
    item: Node
    about: frozenset[str]
    by: str

    def parts(self, claims: list[AttributeClaim], ends: Mapping[str, Node | None]) -> ClaimParts:
        """Return the slots and edges of the claims. A claim whose owner or statement is unresolved is dropped."""
        parts = ClaimParts()
        for order, claim in enumerate(claims):
            statement = ends[claim.statement]
            owner = ends.get(claim.owner) if claim.owner is not None else None
            if statement is None or (claim.owner is not None and owner is None):
                continue
            slot = self._slot(claim, owner)
            parts.slots.append(slot)
            parts.edges += self._edges(claim, order, statement, slot, ends)
        return parts

    def _slot(self, claim: AttributeClaim, owner: Node | None) -> Node:
        item = self.item
        name = " ".join(filter(None, (owner.name if owner else "", claim.of, f"· {claim.attribute}")))
        visibility = [item.sensitivity.value, str(item.portable), str(item.expires_at is None), *sorted(self.about)]
        owner_uid = owner.uid if owner is not None else ""
        parts = (item.domain, " ".join(visibility), owner_uid, fold_case(claim.of), claim.attribute)
        return Node(
            uid=make_uid(item.tenant, item.context, ATTRIBUTE, *parts),
            label=Label.CONCEPT,
            tenant=item.tenant,
            context=item.context,
            name=name,
            title=name,
            subtype=ATTRIBUTE,
            domain=item.domain,
            created_at=self.edge_factory.now,
        )

    def _edges(
        self, claim: AttributeClaim, order: int, statement: Node, slot: Node, ends: Mapping[str, Node | None]
    ) -> Iterator[Edge]:
        properties: dict[str, object] = {"attribute": claim.attribute, "value": claim.value, "order": order}
        properties |= {"ended": True} if claim.ended else {}
        properties |= {name: True for name in ("weak", "now") if getattr(claim, name)}
        properties |= {"hearsay": True} if claim.source is not None else {}
        properties |= {"own": True} if claim.owner == SPEAKER else {}
        yield self._edge("MENTIONS", statement, slot, properties)
        source = ends.get(claim.source or SPEAKER) if claim.source != "" else None
        if source is not None and source.label is Label.ENTITY:
            yield self._edge("STATED_BY", statement, source, {})

    def _edge(self, edge_type: str, source: Node, target: Node, properties: Mapping[str, object]) -> Edge:
        item, ends = self.item.uid, (source.uid, target.uid)
        return self.edge_factory.edge(edge_type, *ends, by=self.by, item=item, source_item=item, properties=properties)
