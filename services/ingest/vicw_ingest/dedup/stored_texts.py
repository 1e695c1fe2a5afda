"""Lookup keys of an item, and the batch lookup of stored texts that items of a request may repeat."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from vicw_ingest.dedup import quotations
from vicw_ingest.dedup.quotations import CUT, QuotedResult, QuotedSpan
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.model.text_keys import keys_of, plain, same_acronyms
from vicw_shared.ports import Direction, GraphStore, Scope
from vicw_shared.text import fold_case
from vicw_shared.wire.ingest import Item


@dataclass(frozen=True, slots=True)
class LookupKeys:
    """An item with the keys of its whole text and of its blocks that may repeat a stored item."""

    item: Item
    whole: QuotedSpan
    blocks: Sequence[QuotedResult]

    @classmethod
    def of(cls, item: Item, min_chars: int) -> LookupKeys:
        """Return the keys of an item. ``min_chars`` is the minimum number of characters of a duplicate."""
        text = item.text  # without a bracket it has no heading of an answer's block
        return cls(
            item, QuotedSpan(0, len(text), keys_of(text)), quotations.blocks(text, min_chars) if "[" in text else ()
        )

    @property
    def block_keys(self) -> Iterator[str]:
        """Keys of the blocks: their texts may come from another context."""
        for block in self.blocks:
            for span in block.texts:
                yield from span.keys


_MAX_PER_KEY = 20
"""Maximum number of stored texts per key."""
_MAX_EXPANDED = 1000
_MOST_CUTS, _CUT_CHARS = 10, 300
"""Maximum number of cut texts per request, and how many first characters of each form the full-text query."""


@dataclass(frozen=True, slots=True)
class StoredTexts:
    """Stored texts by key, their items, and the people that private items are about."""

    context: str
    now: datetime
    nodes_by_key: Mapping[str, Sequence[Node]]
    owners: Mapping[str, Node]
    about: Mapping[str, frozenset[str]]
    passages: Mapping[str, tuple[str, ...]]

    @classmethod
    async def look_up(
        cls, graph: GraphStore, tenant: str, context: str, parts: Sequence[LookupKeys], now: datetime
    ) -> StoredTexts:
        """Look up all keys at once: in the request's context, and the blocks' keys in other contexts, too."""
        block_keys = {key for part in parts for key in part.block_keys}
        cut_keys = {key for key in block_keys if key.startswith(CUT)}
        exact_keys = {key for part in parts for key in part.whole.keys} | block_keys - cut_keys
        nodes_by_key = await graph.by_text_key(tenant, list(exact_keys), contexts=[context], limit=_MAX_PER_KEY)
        if block_keys := block_keys - cut_keys - nodes_by_key.keys():
            nodes_by_key |= await graph.by_text_key(tenant, sorted(block_keys), limit=_MAX_PER_KEY)
        nodes_by_key |= await _continuations(graph, tenant, cut_keys, now)
        nodes = {node.uid: node for named in nodes_by_key.values() for node in named}
        chunks = [uid for uid, node in nodes.items() if node.label is Label.CHUNK]
        refs = await graph.owners(tenant, chunks) if chunks else {}
        items = await graph.nodes(tenant, list({ref.uid for ref in refs.values()}))
        owners = {chunk: _owner(items[ref.uid], nodes[chunk]) for chunk, ref in refs.items() if ref.uid in items}
        owners |= {uid: node for uid, node in nodes.items() if node.label is not Label.CHUNK}
        private = [item.uid for item in owners.values() if item.sensitivity is not Sensitivity.PUBLIC]
        long_texts = [uid for uid, node in nodes.items() if node.label is not Label.CHUNK]
        return cls(
            context,
            now,
            nodes_by_key,
            owners,
            await _subjects(graph, tenant, private),
            await _passages(graph, tenant, long_texts),
        )

    def items_with(self, span: QuotedSpan, text: str) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """Yield the live items with the same text as a span of ``text``, oldest first, each with the passages of it."""
        repeated = text[span.start : span.end]
        for key in span.keys:
            for node in self.nodes_by_key.get(key, ()):
                item = self.owners.get(node.uid)
                if item is None or item.retired_at is not None:
                    continue
                if node.text and not key.startswith(CUT) and not same_acronyms(repeated, node.text):
                    continue
                if item.expires_at is None or item.expires_at > self.now:
                    yield item, self.passages.get(node.uid, (node.uid,))

    def linkable(self, span: QuotedSpan, item: Item) -> Iterator[Node]:
        """Yield the items with the same text that ``item`` may be linked to."""
        for source, _ in self.items_with(span, item.text):
            if self.may_link(item, source):
                yield source

    def may_link(self, item: Item, source: Node) -> bool:
        """Return whether all viewers of an item may see the stored one, so that a link neither hides nor discloses it.

        An earlier version of the same item is never its source.
        """
        if source.context != self.context:
            return source.sensitivity is Sensitivity.PUBLIC and source.portable
        if item.id is not None and source.source_id == item.id:
            return False
        if item.portable and not source.portable:
            return False
        if source.sensitivity is Sensitivity.PUBLIC:
            return True
        about = self.about.get(source.uid, frozenset())
        return source.sensitivity is item.sensitivity and about.issuperset(map(fold_case, item.about))


def _owner(item: Node, passage: Node) -> Node:
    """Return the item of a passage; for a consolidated item its Macro-Event, with the item's id, speaker and time."""
    if not item.is_macro:
        return item
    return replace(item, source_id=passage.source_id, speaker=passage.speaker, timestamp=passage.timestamp)


async def _subjects(graph: GraphStore, tenant: str, items: Sequence[str]) -> dict[str, frozenset[str]]:
    if not items:
        return {}
    about: dict[str, set[str]] = {}
    for edge in await graph.expand(tenant, list(dict.fromkeys(items)), [("ABOUT", Direction.OUT)], _MAX_EXPANDED):
        about.setdefault(edge.origin, set()).update(
            (edge.node.uid, *map(fold_case, (edge.node.name, *edge.node.aliases)))
        )
    return {uid: frozenset(names) for uid, names in about.items()}


async def _passages(graph: GraphStore, tenant: str, items: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the passages of items that have several, in order."""
    if not items:
        return {}
    chunks_by_item: dict[str, list[Node]] = {}
    for proof in await graph.expand(tenant, items, [("EVIDENCED_BY", Direction.OUT)], _MAX_EXPANDED):
        chunks_by_item.setdefault(proof.origin, []).append(proof.node)
    return {
        uid: tuple(chunk.uid for chunk in sorted(chunks, key=lambda chunk: chunk.flow_step or 0))
        for uid, chunks in chunks_by_item.items()
    }


async def _continuations(
    graph: GraphStore, tenant: str, cut_keys: Collection[str], now: datetime
) -> dict[str, list[Node]]:
    """Return, by key, the stored passages that begin with the cut texts."""
    by_key: dict[str, list[Node]] = {}
    for key in islice(sorted(cut_keys), _MOST_CUTS):
        beginning = key.removeprefix(CUT)
        hits = await graph.find(Scope(tenant=tenant, now=now), beginning[:_CUT_CHARS], _MAX_PER_KEY)
        passages = await graph.nodes(tenant, [hit.uid for hit in hits])
        continuing = [node for node in passages.values() if plain(node.text or "").startswith(beginning)]
        if continuing:
            by_key[key] = sorted(continuing, key=lambda node: (node.created_at, node.uid))
    return by_key
