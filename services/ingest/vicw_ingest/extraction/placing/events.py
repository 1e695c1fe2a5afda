"""What a text says that happened, as it is stored."""

from __future__ import annotations

import re
from datetime import datetime

from vicw_ingest.extraction.placing.model import Place
from vicw_ingest.extraction.reading import Happening
from vicw_ingest.planning.drafts import headline
from vicw_shared.model import Label, Node
from vicw_shared.text import fold
from vicw_shared.uids import make_uid, told_event_uid

_ARTICLES = frozenset({"a", "an", "the"})
_POINTING = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
_FEWEST_WORDS = 3


def event_of(happening: Happening, place: Place, now: datetime) -> Node:
    """Return the node of what an item tells of, stored ``now``: one for all that tell of it in the same words."""
    item = place.item
    uid = told_event_uid(item.uid, f"rules {happening.key}")
    if not happening.is_statement and place.shares_events and (words := _same_words(happening.text)):
        # The effect that one text tells of is the cause that another does.
        uid = make_uid(item.tenant, item.context, "event", item.flow_id or "", words)
    return Node(
        uid=uid,
        label=Label.EVENT,
        tenant=item.tenant,
        context=item.context,
        name=headline(happening.text),
        subtype=happening.subtype,
        domain=item.domain,
        created_at=now,
        qdrant_id=uid if happening.is_statement else None,
        text=happening.text,
        speaker=item.speaker,
        timestamp=happening.at or item.timestamp,
        timestamp_inferred=happening.at is None,
        sensitivity=item.sensitivity,
        portable=item.portable,
        expires_at=item.expires_at,
    )


def _same_words(text: str) -> str | None:
    """Return what texts that tell of one event have in common; None if it takes the context to know what is meant."""
    words = [word for word in re.findall(r"\w+", fold(text)) if word not in _ARTICLES]
    return " ".join(words) if len(words) >= _FEWEST_WORDS and _POINTING.isdisjoint(words) else None
