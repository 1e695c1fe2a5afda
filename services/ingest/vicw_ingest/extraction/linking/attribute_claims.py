"""Attribute claims as nodes and edges: one slot for each attribute of each entity, and the source of each claim.

A slot is a Concept of subtype ``attribute``. All statements of a slot concern the same attribute of the same entity, in
one domain, with the same visibility: only these can supersede each other (docs/decisions/0021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from vicw_ingest.extraction.model import SPEAKER, AttributeClaim
from vicw_shared.edge_factory import EdgeFactory
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.names import SLOT
from vicw_shared.text import fold_case
from vicw_shared.uids import make_uid

BY = "rules:attribute"
"""``created_by`` of MENTIONS edges from statements to slots that the rules extracted, and of slot decisions."""


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

    ``about`` has the uids of the item's addressees; ``by`` names the extractor.
    """

    ties: EdgeFactory
    item: Node
    about: frozenset[str]
    by: str

    def parts(self, asserted: list[AttributeClaim], ends: Mapping[str, Node | None]) -> ClaimParts:
        """Return the slots and edges of the claims. A claim whose owner or statement is unresolved is dropped."""
        made = ClaimParts()
        order = 0
        for number, each in enumerate(asserted):
            order = order if each.also else number
            statement = ends[each.statement]
            owner = ends.get(each.owner) if each.owner is not None else None
            if statement is None or (each.owner is not None and owner is None):
                continue
            slot = self._slot(each, owner)
            made.slots.append(slot)
            made.edges += self._edges(each, order, statement, slot, ends)
        return made

    def _slot(self, asserted: AttributeClaim, owner: Node | None) -> Node:
        item = self.item
        name = " ".join(filter(None, (owner.name if owner else "", asserted.of, f"· {asserted.attribute}")))
        seen_by = [item.sensitivity.value, str(item.portable), str(item.expires_at is None), *sorted(self.about)]
        whose = owner.uid if owner is not None else ""
        parts = (item.domain, " ".join(seen_by), whose, fold_case(asserted.of), asserted.attribute)
        return Node(
            uid=make_uid(item.tenant, item.context, SLOT, *parts),
            label=Label.CONCEPT,
            tenant=item.tenant,
            context=item.context,
            name=name,
            title=name,
            subtype=SLOT,
            domain=item.domain,
            created_at=self.ties.now,
        )

    def _edges(
        self, asserted: AttributeClaim, order: int, statement: Node, slot: Node, ends: Mapping[str, Node | None]
    ) -> Iterator[Edge]:
        hearsay = asserted.source is not None
        said: dict[str, object] = {"attribute": asserted.attribute, "value": asserted.value, "order": order}
        said |= {"ended": True} if asserted.ended else {}
        said |= {name: True for name in ("weak", "now") if getattr(asserted, name)}
        said |= {"hearsay": True} if hearsay else {}
        said |= {"own": True} if asserted.owner == SPEAKER else {}
        rules = self.by == "rules"
        yield self._edge("MENTIONS", statement, slot, BY if rules else self.by, said)
        source = ends.get(asserted.source or SPEAKER) if asserted.source != "" else None
        if source is not None and source.label is Label.ENTITY:
            how = "rules:hearsay" if hearsay else "rules:speaker"
            yield self._edge("STATED_BY", statement, source, how if rules else self.by, {})

    def _edge(self, edge_type: str, source: Node, target: Node, by: str, said: Mapping[str, object]) -> Edge:
        item = self.item.uid
        return self.ties.edge(edge_type, source.uid, target.uid, by=by, item=item, source_item=item, properties=said)
