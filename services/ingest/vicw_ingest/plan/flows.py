"""Flow inference for chat turns without a ``flow_id``: one flow per thread, even where topics interleave."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from vicw_ingest.plan.drafts import ItemDraft, event_time
from vicw_ingest.plan.threads import ThreadTurn, matching_thread
from vicw_shared.clock import to_us
from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid

_MAX_TURNS = 40
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

    A turn joins the thread that it continues, among the earlier turns of its context that no ``pause`` separates from
    it; otherwise it starts a thread. An update keeps its flow.
    """
    with_flow: dict[int, ItemDraft] = {}
    earlier: list[ThreadTurn] = []
    turns = sorted(_turns_without_flow(drafts, latest, now), key=lambda entry: (entry[0], entry[1].index))
    stored = await _earlier_turns(transaction, [at for at, _ in turns], pause)
    for at, draft in turns:
        previous = latest.get(draft.item.id) if draft.item.id is not None else None
        if previous is not None and previous.flow_id is not None:
            thread: str | None = previous.flow_id
        else:
            turn = ThreadTurn(None, draft.item.speaker, draft.item.text, at)
            thread = (
                matching_thread(turn, _session([*stored[at], *earlier], at, pause))
                or f"thread-{make_uid(draft.key)[-12:]}"
            )
        earlier.append(ThreadTurn(thread, draft.item.speaker, draft.item.text, at))
        with_flow[draft.index] = replace(draft, flow_id=thread)
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


async def _earlier_turns(
    transaction: GraphTransaction, times: Sequence[datetime], pause: timedelta
) -> dict[datetime, list[ThreadTurn]]:
    """Return the stored turns before each of the ascending times.

    Equal results for the first and last time hold for all: new turns are usually later than all stored ones.
    """
    if not times:
        return {}
    first, last = [await _stored_turns(transaction, at, pause) for at in (times[0], times[-1])]
    if first == last:
        return dict.fromkeys(times, first)
    return {at: await _stored_turns(transaction, at, pause) for at in times}


async def _stored_turns(transaction: GraphTransaction, at: datetime, pause: timedelta) -> list[ThreadTurn]:
    """Return the turns with inferred threads before a time, latest last."""
    nodes = await transaction.latest((to_us(at), _LATEST, 0, 0), _MAX_TURNS)
    recent = [n for n in nodes if n.timestamp is not None and at - n.timestamp <= pause * _MAX_TURNS]
    in_threads = [n for n in recent if n.speaker is not None and _INFERRED.fullmatch(n.flow_id or "")]
    texts = await transaction.nodes([n.qdrant_id for n in in_threads if n.qdrant_id is not None])
    return [
        ThreadTurn(n.flow_id, n.speaker, texts[n.qdrant_id].text or "", n.timestamp)
        for n in reversed(in_threads)
        if n.qdrant_id in texts and n.timestamp is not None
    ]


def _session(turns: Sequence[ThreadTurn], at: datetime, pause: timedelta) -> list[ThreadTurn]:
    """Return the latest turns before a time without a longer pause between them, in ascending order."""
    session: list[ThreadTurn] = []
    for turn in sorted(turns, key=lambda turn: turn.at, reverse=True):
        if at - turn.at > pause or len(session) == _MAX_TURNS:
            break
        session.append(turn)
        at = turn.at
    return session[::-1]
