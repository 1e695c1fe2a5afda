"""What a note of an erasure knows again."""

from __future__ import annotations

from datetime import UTC, datetime

from vicw_ingest.erasing.noting import texts_of
from vicw_shared.fingerprints import Finder, Fingerprints
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import LEDGER

_HEAD = "c$~#oT~Av_5dACFefFUJ{_q<~tOhA1RiTwC6rtJKU2p@2"


def test_a_ledger_is_known_by_what_it_holds_not_by_how_it_begins() -> None:
    erased, other = (_HEAD + word * 40 for word in ("vermilion", "hellebore"))
    now = datetime(2026, 5, 4, tzinfo=UTC)
    passage = Node(
        uid="48062590-7d0c-5c5c-9d2b-0d1f6f0a5a01",
        label=Label.CHUNK,
        tenant="t",
        context="c",
        name="Ana",
        subtype="message",
        domain="general",
        created_at=now,
        metadata={LEDGER: erased},
    )
    marks = Fingerprints(12345)
    for text in texts_of(passage):
        marks.add_text(text)
    assert Finder(marks).find(erased.encode())
    assert not Finder(marks).find(other.encode())
