"""Order of Events in the two chains: NEXT follows a flow, HAPPENED_AFTER follows the clock."""

from __future__ import annotations

from collections.abc import Iterable

from vicw_shared.clock import to_us
from vicw_shared.model.core5 import Label, Node

NEXT = "NEXT"
HAPPENED_AFTER = "HAPPENED_AFTER"

ChainKey = tuple[int, int, int, int]
"""Sort key of a chain's members: a total order."""


def next_key(node: Node) -> ChainKey:
    """Return an Event's key in its NEXT chain: by the caller's own step if it has one; the others follow, by time.

    Ties are broken by time, then flow step.
    """
    assert node.timestamp is not None
    assert node.flow_step is not None
    return (int(node.own_step is None), node.own_step or 0, to_us(node.timestamp), node.flow_step)


def clock_key(node: Node) -> ChainKey:
    """Return an Event's key in its context's HAPPENED_AFTER chain: by time, then arrival."""
    assert node.timestamp is not None
    assert node.arrival is not None
    return (to_us(node.timestamp), node.arrival, 0, 0)


def chain_key(chain: str, node: Node) -> ChainKey | None:
    """Return a node's key in its NEXT or HAPPENED_AFTER ``chain``; None: it is in none (retired, or no such Event)."""
    if node.label is not Label.EVENT or node.retired_at is not None or None in (node.arrival, node.timestamp):
        return None
    if chain == HAPPENED_AFTER:
        return clock_key(node)
    return next_key(node) if None not in (node.flow_id, node.flow_step) else None


def latest_first(events: Iterable[Node]) -> list[Node]:
    """Return Events of any contexts, the latest first; ties of time and arrival by uid."""
    return sorted(sorted(events, key=lambda node: node.uid), key=clock_key, reverse=True)
