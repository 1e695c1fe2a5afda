"""Flow inference for chat turns without a ``flow_id``: one flow per session, ended by a pause."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from vicw_ingest.plan.drafts import ItemDraft, event_time
from vicw_shared.clock import to_us
from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid

_MAX_TURNS = 40
"""Events that are read to find the latest turn with an inferred flow: turns with a caller's flow may lie between."""
_LATEST = 2**62
_INFERRED = re.compile(r"thread-[0-9a-f]{12}")


async def infer_flows(
    transaction: GraphTransaction,
    drafts: Sequence[ItemDraft],
    latest: Mapping[str, Node],
    now: datetime,
    pause: timedelta,
) -> list[ItemDraft]:
    """Return the drafts, with an inferred flow for each chat turn whose caller gives none.

    A turn continues the flow of the turn before it in its context, unless more than ``pause`` separates them; then it
    starts a flow. An update keeps its flow.
    """
    with_flow: dict[int, ItemDraft] = {}
    turns = sorted(_turns_without_flow(drafts, latest, now), key=lambda entry: (entry[0], entry[1].index))
    stored = await _turns_before(transaction, [at for at, _ in turns])
    previous: tuple[datetime, str] | None = None
    for at, draft in turns:
        known = latest.get(draft.item.id) if draft.item.id is not None else None
        before = max(filter(None, (stored[at], previous)), default=None)
        if known is not None and known.flow_id is not None:
            flow = known.flow_id
        elif before is not None and at - before[0] <= pause:
            flow = before[1]
        else:
            flow = f"thread-{make_uid(draft.key)[-12:]}"
        previous = at, flow
        with_flow[draft.index] = replace(draft, flow_id=flow)
    return [with_flow.get(draft.index, draft) for draft in drafts]


def _turns_without_flow(
    drafts: Sequence[ItemDraft], latest: Mapping[str, Node], now: datetime
) -> list[tuple[datetime, ItemDraft]]:
    """Return the chat turns without a flow, with their times."""
    turns = []
    for draft in drafts:
        if draft.label is Label.EVENT and draft.flow_id is None and draft.item.speaker is not None:
            previous = latest.get(draft.item.id) if draft.item.id is not None else None
            at, _ = event_time(draft, previous.timestamp if previous is not None else None, now)
            turns.append((at or now, draft))
    return turns


async def _turns_before(
    transaction: GraphTransaction, times: Sequence[datetime]
) -> dict[datetime, tuple[datetime, str] | None]:
    """Return the time and flow of the last stored turn with an inferred flow before each of the ascending times.

    Equal results for the first and last time hold for all: new turns are usually later than all stored ones.
    """
    if not times:
        return {}
    first = await _turn_before(transaction, times[0])
    if times[0] == times[-1] or first == await _turn_before(transaction, times[-1]):
        return dict.fromkeys(times, first)
    return {at: await _turn_before(transaction, at) for at in times}


async def _turn_before(transaction: GraphTransaction, at: datetime) -> tuple[datetime, str] | None:
    for node in await transaction.latest((to_us(at), _LATEST, 0, 0), _MAX_TURNS):
        flow = node.flow_id or ""
        if node.timestamp is not None and node.speaker is not None and _INFERRED.fullmatch(flow):
            return node.timestamp, flow
    return None
