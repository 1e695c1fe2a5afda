"""What the tests of consolidation consolidate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from vicw_shared.model import Label, Node
from vicw_shared.uids import chunk_uid, make_uid
from vicw_sleep.consolidation.model import SourceEvent

AT = datetime(2025, 3, 1, 12, tzinfo=UTC)


def said(
    number: int, *texts: str, speaker: str | None = "Ana", minute: float | None = None, **fields: Any
) -> SourceEvent:
    """Return the material of the so-manieth turn of a flow, a passage a text."""
    uid = make_uid(str(number))
    at = AT + timedelta(minutes=number if minute is None else minute)
    of_material = {
        name: fields.pop(name) for name in ("about", "named", "caused", "busy", "statements", "use") if name in fields
    }
    event = Node(
        uid=uid,
        label=Label.EVENT,
        tenant="t",
        context="c",
        name=speaker or "scene",
        subtype="message",
        domain="general",
        created_at=AT,
        timestamp=at,
        speaker=speaker,
        flow_id="f",
        flow_step=number + 1,
        arrival=number + 1,
        content_hash="h",
        qdrant_id=chunk_uid(uid, 0),
        indexed=True,
    )
    event = replace(event, **fields)
    passages = tuple(
        replace(
            event,
            uid=chunk_uid(uid, n),
            qdrant_id=chunk_uid(uid, n),
            label=Label.CHUNK,
            text=text,
            content_hash=None,
            version=1,
            metadata={},
            indexed=True,
        )
        for n, text in enumerate(texts)
    )
    return SourceEvent(event, passages, **of_material)
