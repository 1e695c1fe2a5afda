"""What a note of an erasure knows again."""

from __future__ import annotations

from support.stores.graph_records import node
from vicw_ingest.erasure.fingerprints import FingerprintFinder, Fingerprints
from vicw_ingest.erasure.record import texts_of
from vicw_shared.model import Label
from vicw_shared.model.core5 import LEDGER

_HEAD = "c$~#oT~Av_5dACFefFUJ{_q<~tOhA1RiTwC6rtJKU2p@2"


def test_erasure_fingerprints_distinguish_ledgers_with_equal_prefixes() -> None:
    erased, other = (_HEAD + word * 40 for word in ("vermilion", "hellebore"))
    passage = node("Ana", Label.CHUNK, metadata={LEDGER: erased})
    marks = Fingerprints(12345)
    for text in texts_of(passage):
        marks.add_text(text)
    assert FingerprintFinder(marks).find(erased.encode())
    assert not FingerprintFinder(marks).find(other.encode())
