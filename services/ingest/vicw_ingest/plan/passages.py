"""Passages of an item as ``Chunk`` nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vicw_shared.model import Label, Node
from vicw_shared.model.text_keys import text_key
from vicw_shared.uids import chunk_uid


def item_point(item: Node, texts: Sequence[str]) -> Node:
    """Return an item with the point of its first passage, or without a point if it has no text of its own."""
    return replace(item, qdrant_id=chunk_uid(item.uid, 0) if texts else None)


def passages_of(item: Node, texts: Sequence[str], *, verbatim: bool) -> list[Node]:
    """Return an item's passages, in order. ``verbatim`` selects how text keys compare (``model.text_keys``)."""
    return [
        replace(
            item,
            uid=(uid := chunk_uid(item.uid, ordinal)),
            label=Label.CHUNK,
            name=item.name if len(texts) == 1 else f"{item.name} §{ordinal + 1}",
            title=None,
            text=text,
            text_key=text_key(text, verbatim=verbatim),
            qdrant_id=uid,
            content_hash=None,
            tags=(),
            trigger_phrases=(),
            bucket=None,
            metadata={},
            arrival=None,
            flow_step=ordinal,  # a Chunk's position in its item
            own_step=None,
            flow_id=None,
        )
        for ordinal, text in enumerate(texts)
    ]
