"""Vacated steps: the flow steps of erased items, noted at the Context, so that steps are neither moved nor reused.

A flow whose steps were all erased gets no note and starts anew: an erased conversation leaves no trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from vicw_shared.model import Node
from vicw_shared.model.erased_steps import VACATED, flow_key, runs_of, steps_of
from vicw_shared.ports import GraphTransaction


async def vacate(transaction: GraphTransaction, root: Node, erased: Iterable[Node]) -> None:
    """Note the steps of a context's erased items."""
    flows: dict[str, set[int]] = {}
    for node in erased:
        if node.content_hash is not None and node.flow_id is not None and node.flow_step is not None:
            flows.setdefault(node.flow_id, set()).add(node.flow_step)
    if not flows:
        return
    stored = root.metadata.get(VACATED)
    noted = dict(stored) if isinstance(stored, Mapping) else {}
    counters = (await transaction.counters(sorted(flows))).flow_steps
    empty = []
    for flow, steps in flows.items():
        key = flow_key(root.tenant, root.context, flow)
        vacant = steps | steps_of(noted.pop(key, []))
        if _is_all(vacant, counters.get(flow, 0)):
            empty.append(flow)
        else:
            noted[key] = runs_of(vacant)
    metadata = {name: value for name, value in root.metadata.items() if name != VACATED}
    await transaction.put_nodes([replace(root, metadata=metadata | ({VACATED: noted} if noted else {}))])
    await transaction.drop_counters(empty)


def _is_all(steps: Collection[int], highest: int) -> bool:
    return len(steps) >= highest
