"""Rows of the embedded graph are made into records field by field: none may be without a column."""

from __future__ import annotations

from dataclasses import fields

from vicw_shared.model import Edge, Label, Node
from vicw_shared.ports import ItemRef
from vicw_stores.sqlite.rows import EDGE_COLUMNS, NODE_COLUMNS, item_ref


def names(kind: type) -> set[str]:
    return {one.name for one in fields(kind)}


def test_every_node_and_edge_field_has_a_column() -> None:
    assert set(NODE_COLUMNS.split(", ")) == names(Node)
    assert set(EDGE_COLUMNS.split(", ")) == names(Edge)


def test_item_ref_reads_every_field_of_a_row() -> None:
    item = item_ref((bytes(16), "Event", "c", "general", 0, None, 0.5, None, None, None, None, 1, 1))
    made = ItemRef(**{name: getattr(item, name) for name in names(ItemRef)})
    assert made == item
    assert (item.label, item.importance, item.is_macro, item.part) == (Label.EVENT, 0.5, False, None)
