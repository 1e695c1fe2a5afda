"""The previous turn of each item, to resolve the addressee (*you*) and a cause referred to as *that*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_ingest.extraction.model import ADDRESSEE, PREVIOUS, TextExtraction
from vicw_shared.model import Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, chain_key
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case


class PreviousTurns:
    """Find the previous turns and addressees of a request's items in their flows, among new and stored items."""

    def __init__(self, transaction: GraphTransaction, nodes: Sequence[Node]) -> None:
        self._transaction = transaction
        self._nodes = nodes

    async def of(self, extractions: Mapping[str, TextExtraction]) -> dict[str, Node]:
        """Return the previous item of each item, by uid, if its extraction refers to ADDRESSEE or PREVIOUS."""
        previous: dict[str, Node] = {}
        for node in self._nodes:
            extraction = extractions.get(node.uid)
            if extraction is not None and {ADDRESSEE, PREVIOUS} & extraction.ends():
                before = await self._previous(node)
                if before is not None:
                    previous[node.uid] = before
        return previous

    async def _previous(self, node: Node) -> Node | None:
        """Return the latest node before a node in its flow; for a node without a flow, by the clock."""
        chain, flow = (NEXT, node.flow_id) if node.flow_id is not None else (HAPPENED_AFTER, None)
        key = chain_key(chain, node)
        if key is None:
            return None
        thread = [(chain_key(chain, other), other) for other in self._nodes if other.flow_id == flow or flow is None]
        before = [(at, other) for at, other in thread if at is not None and at < key]
        (gap,) = await self._transaction.gaps(flow, [key])
        if gap.before is not None:
            stored = (await self._transaction.nodes([gap.before])).get(gap.before)
            at = chain_key(chain, stored) if stored is not None else None
            if stored is not None and at is not None:
                before.append((at, stored))
        return max(before, key=lambda entry: entry[0])[1] if before else None

    def addressees(self, extractions: Mapping[str, TextExtraction], before: Mapping[str, Node]) -> dict[str, str]:
        """Return the addressee's name, by uid, of the items that say *you*.

        It is the speaker of the previous turn, else the first other speaker of the flow in this request.
        """
        names: dict[str, str] = {}
        for node in self._nodes:
            if node.uid in extractions and ADDRESSEE in extractions[node.uid].ends():
                name = self._addressee(node, before.get(node.uid))
                if name is not None:
                    names[node.uid] = name
        return names

    def _addressee(self, node: Node, before: Node | None) -> str | None:
        if node.speaker is None or node.flow_id is None:
            return None
        thread = [(chain_key(NEXT, other), other) for other in self._nodes if other.flow_id == node.flow_id]
        later = [other for at, other in sorted(thread, key=lambda entry: entry[0] or ()) if at is not None]
        for other in [*([before] if before is not None else []), *later]:
            if other.speaker is not None and fold_case(other.speaker) != fold_case(node.speaker):
                return other.speaker
        return None
