"""The nearest items before and after a time of which there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vicw_retrieval.channels.graph.spread import SpreadContext
from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.temporal.span_items import SpanItem, SpanLookup, items_of_span
from vicw_retrieval.temporal.spans import BEGINNING, END
from vicw_retrieval.temporal.time_lift import LATER
from vicw_shared.model import Node
from vicw_shared.model.stated_times import Interval

_LOOKUP = 20
"""Items that are read to each side: of some the statements are of another time."""


@dataclass(frozen=True, slots=True)
class NearItem:
    """An item, the passage that shows it, and when it happened."""

    node: Node
    at: datetime
    found: SpanItem


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
    uids = [one[0].item.uid for one in (last, first) if one is not None]
    nodes = await question.graph.nodes(question.scope.tenant, uids) if uids else {}
    return Nearest(*(_near(one, nodes) for one in (last, first)))


def nearest_first(ranked: Sequence[Candidate], nearest: Nearest) -> list[Candidate]:
    """Return the candidates with the nearest items before all others, the earlier first.

    Where time alone selects, nothing else answers the question: what the answer names must be among its results.
    """
    near = [one.found for one in (nearest.before, nearest.after) if one is not None]
    by_key = {one.key: one for one in ranked}
    best = max((one.score for one in ranked), default=0.0)
    first: dict[str, Candidate] = {}
    for place, found in enumerate(near):
        candidate = by_key.get(found.item.key) or Candidate(found.item, 0.0, [(found.passage, 0.0)])
        first[candidate.key] = candidate.raised(time=best + LATER * (len(near) - place) - candidate.score)
    return [*first.values(), *(one for one in ranked if one.key not in first)]


def _near(found: tuple[SpanItem, Interval] | None, nodes: dict[str, Node]) -> NearItem | None:
    if found is None or found[0].item.uid not in nodes:
        return None
    return NearItem(nodes[found[0].item.uid], found[1][0], found[0])


async def _times(question: SpreadContext, span: Interval, *, earliest: bool) -> list[tuple[SpanItem, Interval]]:
    """Return the items next to one end of a span, each with each of its times."""
    lookup = SpanLookup(_LOOKUP, 10 * _LOOKUP, math.inf, earliest)
    items = (await items_of_span(question, span, lookup))[0]
    uids = [one.item.uid for one in items]
    times = await question.graph.stated_times(question.scope.tenant, uids) if uids else {}
    found: list[tuple[SpanItem, Interval]] = []
    for one in items:
        passages = times.get(one.item.uid, [])
        stated = [time for passage in passages for time in passage.stated]
        found += [(one, time) for time in stated]
        told = one.item.timestamp
        if told is not None and (not stated or any(passage.untimed for passage in passages)):
            found.append((one, (told, told)))
    return found
