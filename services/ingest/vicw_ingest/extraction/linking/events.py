"""Event nodes from extracted events."""

from __future__ import annotations

from datetime import datetime

from vicw_ingest.extraction.linking.event_coreference import shared_event_uid
from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_ingest.extraction.model import ExtractedEvent
from vicw_ingest.plan.drafts import headline
from vicw_shared.model import Label, Node
from vicw_shared.uids import extracted_event_uid


def event_of(event: ExtractedEvent, item_extraction: ItemExtraction, now: datetime) -> Node:
    """Return the node of an extracted event, created ``now``. Items may share an event, but not a statement."""
    item = item_extraction.item
    shared = shared_event_uid(event.text, item_extraction) if not event.is_statement else None
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
        qdrant_id=own if event.is_statement else None,
        text=event.text,
        speaker=item.speaker,
        timestamp=event.at or item.timestamp,
        timestamp_inferred=event.at is None,
        sensitivity=item.sensitivity,
        portable=item.portable,
        expires_at=item.expires_at,
    )
