"""The previous turn of an item, for a cause that the item refers to as *that*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vicw_shared.model import Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, chain_key
from vicw_shared.model.extraction import PREVIOUS, TextExtraction
from vicw_shared.ports import GraphTransaction


async def previous_turns(
    transaction: GraphTransaction, nodes: Sequence[Node], extractions: Mapping[str, TextExtraction]
) -> dict[str, Node]:
    """Return the previous item of each item (``nodes``), by uid, if its extraction refers to PREVIOUS."""
    previous: dict[str, Node] = {}
    for node in nodes:
        extraction = extractions.get(node.uid)
        if extraction is not None and PREVIOUS in extraction.ends():
            earlier = await _previous(transaction, nodes, node)
            if earlier is not None:
                previous[node.uid] = earlier
    return previous


async def _previous(transaction: GraphTransaction, nodes: Sequence[Node], node: Node) -> Node | None:
    """Return the latest new or stored node before a node in its flow; for a node without a flow, by the clock."""
    chain, flow = (NEXT, node.flow_id) if node.flow_id is not None else (HAPPENED_AFTER, None)
    key = chain_key(chain, node)
    if key is None:
        return None
    thread = [(chain_key(chain, other), other) for other in nodes if other.flow_id == flow or flow is None]
    earlier = [(at, other) for at, other in thread if at is not None and at < key]
    (gap,) = await transaction.gaps(flow, [key])
    if gap.before is not None:
        stored = (await transaction.nodes([gap.before])).get(gap.before)
        at = chain_key(chain, stored) if stored is not None else None
        if stored is not None and at is not None:
            earlier.append((at, stored))
    return max(earlier, key=lambda entry: entry[0])[1] if earlier else None
