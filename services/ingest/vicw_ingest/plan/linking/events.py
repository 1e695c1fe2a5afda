"""Event nodes from extracted events, and event coreference: items of a flow share an event described in the same words.

Causal chains thus continue across items. The uid of such an event is derived from its words, so that a lookup by uid
finds it.
"""

from __future__ import annotations

import re
from datetime import datetime

from vicw_ingest.plan.drafts import headline
from vicw_ingest.plan.linking.model import ItemExtraction
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.model.core5 import LASTS
from vicw_shared.model.extraction import ExtractedEvent
from vicw_shared.text import fold_case
from vicw_shared.uids import extracted_event_uid, make_uid

_ARTICLES = frozenset({"a", "an", "the"})
_DEICTIC = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
_MIN_WORDS = 3


def shared_event_uid(text: str, item_extraction: ItemExtraction) -> str | None:
    """Return the uid, derived from its words, of an event that items may share; None if they may not share it."""
    words = words_of(text)
    if not _is_unrestricted(item_extraction) or len(words) < _MIN_WORDS or not _DEICTIC.isdisjoint(words):
        return None
    return make_uid(
        item_extraction.item.tenant,
        item_extraction.item.context,
        "event",
        item_extraction.item.flow_id or "",
        " ".join(words),
    )


def _is_unrestricted(item_extraction: ItemExtraction) -> bool:
    """Return whether everybody may see an item at any time: only then may other items share its events."""
    item, about = item_extraction.item, item_extraction.about
    return item.sensitivity is Sensitivity.PUBLIC and item.portable and item.expires_at is None and not about


def words_of(text: str) -> list[str]:
    """Return the case-folded words of a text without articles."""
    return [word for word in re.findall(r"\w+", fold_case(text)) if word not in _ARTICLES]


def event_of(event: ExtractedEvent, item_extraction: ItemExtraction, now: datetime) -> Node:
    """Return the node of an extracted event, created ``now``. Items may share an event, but not a statement."""
    item = item_extraction.item
    is_statement = event.is_statement
    shared = shared_event_uid(event.text, item_extraction) if not is_statement else None
    own = shared or extracted_event_uid(item.uid, f"rules {event.key}")
    return Node(
        uid=own,
        label=Label.EVENT,
        tenant=item.tenant,
        context=item.context,
        name=headline(event.text),
        subtype=event.subtype,
        domain=item.domain,
        created_at=now,
        qdrant_id=own if is_statement else None,
        text=event.text,
        speaker=item.speaker,
        timestamp=event.at or item.timestamp,
        # What a page of a day tells is of that day; what a turn tells may be of another than that of telling it.
        timestamp_inferred=event.at is None and (item.label is Label.EVENT or item.timestamp is None),
        metadata={LASTS: (event.until - event.at).total_seconds()} if event.at and event.until else {},
        sensitivity=item.sensitivity,
        portable=item.portable,
        expires_at=item.expires_at,
    )
