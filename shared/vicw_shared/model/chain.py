"""Order of Events in the two chains: NEXT follows a flow, HAPPENED_AFTER follows the clock."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

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


def in_time_order(events: Iterable[Node], *, earliest: bool = False) -> list[Node]:
    """Return Events of any contexts, the latest or the earliest first: by time, then arrival if any, then uid."""

    def moment(node: Node) -> tuple[datetime, int]:
        assert node.timestamp is not None
        return node.timestamp, node.arrival or 0

    return sorted(sorted(events, key=lambda node: node.uid), key=moment, reverse=not earliest)
