"""The nearest items before and after a time of which there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.temporal.span_items import SpanLookup, items_of_span
from vicw_retrieval.temporal.spans import BEGINNING, END
from vicw_shared.model import Node
from vicw_shared.model.stated_times import Interval
from vicw_shared.ports import ItemRef

_LOOKUP = 20
"""Items that are read to each side: of some the statements are of another time."""


@dataclass(frozen=True, slots=True)
class NearItem:
    """An item and when it happened."""

    node: Node
    at: datetime


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest visible items in scope before and after a time, None if there is none."""

    before: NearItem | None = None
    after: NearItem | None = None


async def nearest_to(question: SpreadContext, span: Interval) -> Nearest:
    """Return the items nearest to a span: by what their statements say, else by when they were told."""
    before = await _times(question, (BEGINNING, span[0]), earliest=False) if span[0] > BEGINNING else []
    after = await _times(question, (span[1], END), earliest=True) if span[1] < END else []
    last = max((one for one in before if one[1][0] < span[0]), key=lambda one: one[1][0], default=None)
    first = min((one for one in after if one[1][0] >= span[1]), key=lambda one: one[1][0], default=None)
    uids = [one[0].uid for one in (last, first) if one is not None]
    nodes = await question.graph.nodes(question.scope.tenant, uids) if uids else {}
    return Nearest(*(_near(one, nodes) for one in (last, first)))


def _near(found: tuple[ItemRef, Interval] | None, nodes: dict[str, Node]) -> NearItem | None:
    return NearItem(nodes[found[0].uid], found[1][0]) if found is not None and found[0].uid in nodes else None


async def _times(question: SpreadContext, span: Interval, *, earliest: bool) -> list[tuple[ItemRef, Interval]]:
    """Return the items next to one end of a span, each with each of its times."""
    lookup = SpanLookup(_LOOKUP, 10 * _LOOKUP, math.inf, earliest)
    items = [one.item for one in (await items_of_span(question, span, lookup))[0]]
    times = await question.graph.stated_times(question.scope.tenant, [item.uid for item in items]) if items else {}
    found: list[tuple[ItemRef, Interval]] = []
    for item in items:
        passages = times.get(item.uid, [])
        stated = [time for passage in passages for time in passage.stated]
        found += [(item, time) for time in stated]
        if item.timestamp is not None and (not stated or any(passage.untimed for passage in passages)):
            found.append((item, (item.timestamp, item.timestamp)))
    return found
