"""Event nodes from extracted events."""

from __future__ import annotations

from datetime import datetime

from vicw_ingest.extraction.linking.event_coreference import shared_event_uid
from vicw_ingest.extraction.linking.model import ItemExtraction
from vicw_ingest.extraction.model import ExtractedEvent
from vicw_ingest.plan.drafts import headline
from vicw_shared.model import Label, Node
from vicw_shared.uids import extracted_event_uid


def event_of(happening: ExtractedEvent, place: ItemExtraction, now: datetime) -> Node:
    """Return the node of an extracted event, created ``now``. Items may share an event, but not a statement."""
    item = place.item
    shared = shared_event_uid(happening.text, place) if not happening.is_statement else None
    own = shared or extracted_event_uid(item.uid, f"rules {happening.key}")
    return Node(
        uid=own,
        label=Label.EVENT,
        tenant=item.tenant,
        context=item.context,
        name=headline(happening.text),
        subtype=happening.subtype,
        domain=item.domain,
        created_at=now,
        qdrant_id=own if happening.is_statement else None,
        text=happening.text,
        speaker=item.speaker,
        timestamp=happening.at or item.timestamp,
        timestamp_inferred=happening.at is None,
        sensitivity=item.sensitivity,
        portable=item.portable,
        expires_at=item.expires_at,
    )
