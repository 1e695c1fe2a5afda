"""Flows that nobody names: the threads of a chat, kept apart where topics interleave, and a story's file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from vicw_ingest.plan.drafts import ItemDraft, place
from vicw_ingest.plan.threads import ThreadTurn, matching_thread
from vicw_shared.clock import to_us
from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.uids import make_uid

_TURNS = 40
_LATEST = 2**62
_INFERRED = re.compile(r"thread-[0-9a-f]{12}")


async def infer_flows(
    transaction: GraphTransaction,
    drafts: Sequence[ItemDraft],
    latest: Mapping[str, Node],
    now: datetime,
    pause: timedelta,
) -> list[ItemDraft]:
    """Return the drafts, with a flow for what somebody says in a chat whose caller gives none.

    A turn joins the thread that it goes on with, of those of the turns before it in its context, with no ``pause``
    between them; else it begins one. An update stays where it was.
    """
    found: dict[int, ItemDraft] = {}
    told: list[ThreadTurn] = []
    turns = sorted(_turns(drafts, latest, now), key=lambda entry: (entry[0], entry[1].index))
    before = await _before(transaction, [at for at, _ in turns], pause)
    for at, draft in turns:
        previous = latest.get(draft.item.id) if draft.item.id is not None else None
        if previous is not None and previous.flow_id is not None:
            thread: str | None = previous.flow_id
        else:
            turn = ThreadTurn(None, draft.item.speaker, draft.item.text, at)
            thread = (
                matching_thread(turn, _session([*before[at], *told], at, pause))
                or f"thread-{make_uid(draft.key)[-12:]}"
            )
        told.append(ThreadTurn(thread, draft.item.speaker, draft.item.text, at))
        found[draft.index] = replace(draft, flow_id=thread)
    return [found.get(draft.index, draft) for draft in drafts]


def _turns(drafts: Sequence[ItemDraft], latest: Mapping[str, Node], now: datetime) -> list[tuple[datetime, ItemDraft]]:
    """Return what is said without a flow, with its time."""
    turns = []
    for draft in drafts:
        if draft.label is Label.EVENT and draft.flow_id is None and draft.item.speaker is not None:
            previous = latest.get(draft.item.id) if draft.item.id is not None else None
            at, _ = place(draft, previous.timestamp if previous is not None else None, now)
            turns.append((at or now, draft))
    return turns


async def _before(
    transaction: GraphTransaction, times: Sequence[datetime], pause: timedelta
) -> dict[datetime, list[ThreadTurn]]:
    """Return what is stored before each of ascending times; most of what arrives is newer than all there is."""
    if not times:
        return {}
    first, last = [await _stored(transaction, at, pause) for at in (times[0], times[-1])]
    if first == last:
        return dict.fromkeys(times, first)
    return {at: await _stored(transaction, at, pause) for at in times}


async def _stored(transaction: GraphTransaction, at: datetime, pause: timedelta) -> list[ThreadTurn]:
    """Return the turns before a time that threads were inferred for, the latest last."""
    nodes = await transaction.latest((to_us(at), _LATEST, 0, 0), _TURNS)
    recent = [n for n in nodes if n.timestamp is not None and at - n.timestamp <= pause * _TURNS]
    mine = [n for n in recent if n.speaker is not None and _INFERRED.fullmatch(n.flow_id or "")]
    texts = await transaction.nodes([n.qdrant_id for n in mine if n.qdrant_id is not None])
    return [
        ThreadTurn(n.flow_id, n.speaker, texts[n.qdrant_id].text or "", n.timestamp)
        for n in reversed(mine)
        if n.qdrant_id in texts and n.timestamp is not None
    ]


def _session(turns: Sequence[ThreadTurn], at: datetime, pause: timedelta) -> list[ThreadTurn]:
    """Return the latest turns that no pause separates from a time."""
    session: list[ThreadTurn] = []
    for turn in sorted(turns, key=lambda turn: turn.at, reverse=True):
        if at - turn.at > pause or len(session) == _TURNS:
            break
        session.append(turn)
        at = turn.at
    return session[::-1]
