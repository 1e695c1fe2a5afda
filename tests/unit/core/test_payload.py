"""A payload has fields to filter on, each of which has an index, and fields that are only kept."""

from __future__ import annotations

from datetime import UTC, datetime

from vicw_core.index.points import payload_of
from vicw_shared.model import Label, Node
from vicw_shared.ports import PendingKind, PendingPoint
from vicw_stores.conditions import FLAGS, INSTANTS, KEYWORDS

ONLY_KEPT = {"source_id", "name", "text", "importance", "item_label"}
NOW = datetime(2025, 6, 1, tzinfo=UTC)


def test_every_payload_field_is_a_filter_field_or_stored_only() -> None:
    chunk = Node(
        uid="u",
        label=Label.CHUNK,
        tenant="t",
        context="c",
        name="n",
        subtype="passage",
        domain="general",
        created_at=NOW,
        text="text",
    )
    item = Node(
        uid="i",
        label=Label.EVENT,
        tenant="t",
        context="c",
        name="n",
        subtype="turn",
        domain="general",
        created_at=NOW,
        source_id="s",
        timestamp=NOW,
        retired_at=NOW,
        valid_to=NOW,
        superseded_at=NOW,
        expires_at=NOW,
        flow_id="f",
        importance=0.5,
    )
    payload = payload_of(PendingPoint(1, "p", PendingKind.UPSERT, chunk, item, ("ana",), ("tag",), ("bucket",)))
    assert payload.keys() == {*KEYWORDS, *INSTANTS, *FLAGS} | ONLY_KEPT
    assert all(type(payload[field]) is int for field in (*INSTANTS, *FLAGS))
