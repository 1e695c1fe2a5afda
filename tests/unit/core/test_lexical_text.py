"""The words of a passage: its title or speaker counts double, and is counted once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from vicw_core.index.points import sparse_of, terms_of
from vicw_core.index.sparse import encode_document
from vicw_shared.model import Label, Node
from vicw_shared.ports import PendingKind, PendingPoint

NOW = datetime(2025, 6, 1, tzinfo=UTC)
CHUNK = Node(
    uid="chunk",
    label=Label.CHUNK,
    tenant="t",
    context="c",
    name="n",
    subtype="passage",
    domain="general",
    created_at=NOW,
    text="The lantern was lit by Ines.",
)
TURN = replace(CHUNK, uid="item", label=Label.EVENT, text=None, subtype="turn", content_hash="h")


def point(**fields: str) -> PendingPoint:
    return PendingPoint(1, "chunk", PendingKind.UPSERT, CHUNK, replace(TURN, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["speaker", "title"])
def test_a_name_in_front_weighs_as_much_as_twice_in_the_text(field: str) -> None:
    named, bare = sparse_of(point(**{field: "Ann"})), sparse_of(point())
    (ann,) = encode_document("Ann").indices
    weights = dict(zip(named.indices, named.values, strict=True))
    once = encode_document(f"Ann once: {CHUNK.text}")
    assert weights[ann] > 1.1 * dict(zip(once.indices, once.values, strict=True))[ann]
    assert set(named.indices) == {ann, *bare.indices}


def test_a_name_in_front_is_one_of_the_terms_that_are_counted() -> None:
    (ann,) = encode_document("Ann").indices
    assert terms_of(point(speaker="Ann")).count(ann) == 1
    assert ann not in terms_of(point())
