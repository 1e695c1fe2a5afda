"""Storing of a session's turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import batched

from pydantic import ValidationError

from vicw_readers.assistants.agents.transcript import TranscriptTurn, summarize
from vicw_retrieval.agent_hooks.model import Offloaded, SessionPlace
from vicw_retrieval.agent_hooks.port import TurnWriter
from vicw_shared.errors import InvalidInputError, LimitExceededError
from vicw_shared.wire.ingest import IngestRequest, Item

_BATCH = 50
"""Turns of one request: questions go between two of them."""


async def offload(
    turns: Sequence[TranscriptTurn], source: str, place: SessionPlace, writer: TurnWriter, chars: int
) -> Offloaded:
    """Store turns in the session's flow, cut to ``chars`` characters. They are durable then, and found a little later.

    A turn that is refused costs no other. Of turns with one id the last is stored. Raises the errors of ingest but
    InvalidInputError and LimitExceededError.
    """
    problems = list[str]()

    async def store(items: tuple[Item, ...]) -> int:
        try:
            await writer.ingest(IngestRequest(context=place.context, wait=False, items=items))
        except (InvalidInputError, LimitExceededError) as error:
            if len(items) == 1:
                problems.append(f"turn {items[0].id} cannot be stored: {error.detail}")
                return 0
            middle = len(items) // 2
            return await store(items[:middle]) + await store(items[middle:])
        return len(items)

    by_id = {one.id: one for one in _items(turns, source, place.session, chars, problems)}
    stored = sum([await store(batch) for batch in batched(by_id.values(), _BATCH)])
    return Offloaded(stored, summarize(problems))


def _items(
    turns: Iterable[TranscriptTurn], source: str, session: str, chars: int, problems: list[str]
) -> Iterable[Item]:
    for turn in turns:
        try:
            yield Item.model_validate(
                {
                    "id": turn.id,
                    "text": turn.text[:chars],
                    "subtype": "message",
                    "speaker": turn.speaker,
                    "timestamp": _time(turn.timestamp),
                    "flow_id": session,
                    "source": source,
                }
            )
        except ValidationError as error:  # one turn must not cost the others
            problems.append(f"turn {turn.id} cannot be stored: {error.errors()[0]['msg']}")


def _time(text: str | None) -> datetime | None:
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None
