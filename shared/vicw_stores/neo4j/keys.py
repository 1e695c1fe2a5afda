"""Derived properties: index keys in place of callers' strings.

A range index refuses keys over some 8,000 bytes, in a composite index the sum of its parts; a uid made from the strings
always fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from vicw_core.filters.metadata_terms import metadata_terms
from vicw_core.filters.order import listing_place
from vicw_shared.clock import to_us
from vicw_shared.model import EdgeRegistry, Label, Node
from vicw_shared.model.chain import HAPPENED_AFTER, NEXT, ChainKey, chain_key
from vicw_shared.model.core5 import LEDGER
from vicw_shared.model.item_order import ItemOrder
from vicw_shared.model.names import NAME_PREFIX, Term, TermKind, is_named_node, is_titled_item, terms_of, title_terms
from vicw_shared.model.triggers import has_triggers, phrases_of, precedence
from vicw_shared.uids import make_uid

_OFFSET = 2**63
"""Added to the numbers of a chain key: signed 64-bit integers become numbers that sort as text."""
_KEY_CHARS = 1500
"""Characters of two strings that fit into an index key, up to four bytes each."""
_ITEM_LABELS = (Label.EVENT, Label.ENTITY)


def tenant_key(tenant: str) -> str:
    """Return a tenant's key: digits only, which the full-text analyser neither stems, splits nor drops."""
    return str(UUID(make_uid(tenant, "tenant")).int)


def item_key(tenant: str, context: str, source_id: str) -> str:
    """Return the common key of all versions of a caller's item."""
    return make_uid(tenant, context, "source", source_id)


def chain_prefix(tenant: str, context: str, flow: str | None) -> str:
    """Return the prefix of every place in the NEXT chain of ``flow``, or in the HAPPENED_AFTER chain (None)."""
    parts = ("clock",) if flow is None else ("flow", flow)
    return make_uid(tenant, context, *parts) + ":"


def chain_end(place: str) -> str:
    """Return text that sorts after all places of a chain and before other chains'; ``place`` may be its prefix."""
    return place.partition(":")[0] + ";"


def place(prefix: str, key: ChainKey) -> str:
    """Return a place in a chain, as text that sorts as ``key`` does."""
    return prefix + "".join(f"{part + _OFFSET:020d}" for part in key)


def clock_span(tenant: str, context: str, start: datetime, end: datetime) -> dict[str, str]:
    """Return the places of ``start`` and ``end`` in a context's HAPPENED_AFTER chain."""
    prefix = chain_prefix(tenant, context, None)
    return {"start": _instant(prefix, start), "end": _instant(prefix, end)}


def _instant(prefix: str, at: datetime) -> str:
    return f"{prefix}{to_us(at) + _OFFSET:020d}"


def place_of(chain: str, node: Node) -> str | None:
    """Return a node's place in its NEXT or HAPPENED_AFTER ``chain``, or None if it is in none."""
    key = chain_key(chain, node)
    flow = node.flow_id if chain == NEXT else None
    return place(chain_prefix(node.tenant, node.context, flow), key) if key is not None else None


def stated_at(node: Node) -> int | None:
    """Return the time that a live statement or extracted event gives, in microseconds, if it gives one.

    It is indexed beside the tenant and the context themselves, not their key, so that a migration can set it, where
    both fit into a key.
    """
    if node.timestamp_inferred or node.retired_at is not None or len(node.tenant) + len(node.context) > _KEY_CHARS:
        return None
    return to_us(node.timestamp)


def derived(node: Node) -> dict[str, object]:
    """Return the derived properties of a node; None for those that do not apply."""
    has_key = node.label in _ITEM_LABELS and node.source_id is not None
    keys: dict[str, object] = {
        "item_key": item_key(node.tenant, node.context, node.source_id or "") if has_key else None,
        "clock_at": place_of(HAPPENED_AFTER, node),
        "flow_at": place_of(NEXT, node),
    }
    if node.label in _ITEM_LABELS and node.content_hash is not None:
        keys |= listing_keys(node)
    if node.label in _ITEM_LABELS and node.content_hash is not None and node.retired_at is None:
        keys["ends_at"] = to_us(node.expires_at)
    if node.label is Label.EVENT and node.content_hash is None:
        keys["stated_at"] = stated_at(node)
    if node.label in {Label.CHUNK, Label.CONTEXT}:
        keys["tenant_key"] = tenant_key(node.tenant)
    if node.label is Label.CHUNK:
        keys["home"] = home_key(node.tenant, node.context)
    if node.label is Label.CHUNK and node.source_id is not None and LEDGER in node.metadata:
        keys["folded_key"] = item_key(node.tenant, node.context, node.source_id)
    if node.text_key is not None and node.retired_at is None:
        keys["worded"] = tenant_text_key(node.tenant, node.text_key)
    if node.label is not Label.CHUNK:
        keys["terms"] = terms_fingerprint(term_rows(node))
    return keys


def index_text(name: str) -> str:
    """Return as much of a name as fits into an index key beside another."""
    return name[: _KEY_CHARS // 2]


def listed(tenant: str, *, live: bool) -> str:
    """Return the key of a tenant's live items, or of its retired ones."""
    return ("+" if live else "-") + index_text(tenant)


def listing_keys(item: Node) -> dict[str, object]:
    """Return the properties by which an item is listed, and its metadata is filtered.

    They are made of its other properties without a function of this program, so that a migration can set them; only the
    terms of the metadata and the words are not.
    """
    keys = {f"{order}_key": listing_place(order, item).key for order in ItemOrder if order is not ItemOrder.ARRIVAL}
    terms = metadata_terms(item.metadata)
    return {
        "listed": listed(item.tenant, live=item.retired_at is None),
        "listed_in": index_text(item.context),
        "arrival_key": item.arrival or 0,
        "metadata_terms": terms or None,
        "value_words": value_words(item.tenant, {field: getattr(item, field) for field in VALUE_FIELDS}, terms),
        **keys,
    }


VALUE_FIELDS = ("speaker", "source", "flow_id", "source_id")
"""Fields of an item whose values are looked up like those of its metadata. Others have few values, or an index."""


def value_words(tenant: str, values: Mapping[str, str | None], terms: Sequence[str]) -> str | None:
    """Return what the index of values has of an item: a word of each of its fields and terms of metadata, or None.

    ``values`` are those of ``VALUE_FIELDS``. A word is of one length, whatever the value has, with no sign of a query.
    """
    words = [field_word(tenant, field, value) for field, value in values.items() if value is not None]
    return " ".join([*words, *(metadata_word(tenant, term) for term in terms)]) or None


def field_word(tenant: str, field: str, value: str) -> str:
    """Return the word of a value of a field of ``VALUE_FIELDS``."""
    return UUID(make_uid(tenant, "value", field, value)).hex


def metadata_word(tenant: str, term: str) -> str:
    """Return the word of a term of metadata."""
    return UUID(make_uid(tenant, "metadata", term)).hex


def tenant_text_key(tenant: str, text_key: str) -> str:
    """Return the tenant-wide key of a live text."""
    return make_uid(tenant, "text", text_key)


_TERMS = {TermKind.NAME: "name", TermKind.ALIAS: "name", TermKind.WORD: "word", TermKind.TITLE: "title"}


def term_key(tenant: str, text: str, kind: TermKind) -> str:
    """Return the tenant-wide key of a name (current or earlier), of a word of names, or of a title."""
    return make_uid(tenant, _TERMS[kind], text)


def home_key(tenant: str, context: str) -> str:
    """Return the key of a context, a column of the indexes of terms and of waiting Chunks."""
    return make_uid(tenant, context)


def name_place(tenant: str, context: str, folded_name: str) -> str:
    """Return the place of a name in its context's list: text that sorts by the beginning of the name."""
    return f"{make_uid(tenant, context, 'names')}:{folded_name[:NAME_PREFIX]}"


def beginning(tenant: str, folded_text: str) -> str:
    """Return the tenant-wide prefix of names, and words of names, that begin with this text."""
    return f"{make_uid(tenant, 'begins')}:{folded_text[:NAME_PREFIX]}"


def phrase_prefix(tenant: str, phrase: str) -> str:
    """Return the prefix of the places of items with a trigger phrase; ``chain_end`` returns the place after them."""
    return make_uid(tenant, "phrase", phrase) + ":"


def term_rows(node: Node) -> list[dict[str, object]]:
    """Return the properties of a node's term records: its names, its title, its trigger phrases."""
    home = home_key(node.tenant, node.context)
    terms = terms_of(node.label, node.name, node.aliases) if is_named_node(node) else []
    terms += title_terms(node.title or "") if is_titled_item(node) else []
    phrases = phrases_of(node.trigger_phrases) if has_triggers(node) else []
    return [_term_row(node, home, term) for term in terms] + [_phrase_row(node, home, text) for text in phrases]


def terms_fingerprint(rows: list[dict[str, object]]) -> str | None:
    """Return a fingerprint of a node's terms, to detect changes; None: it has no terms."""
    return make_uid(*(str(row.get("term", row.get("place"))) for row in rows)) if rows else None


def _term_row(node: Node, home: str, term: Term) -> dict[str, object]:
    row: dict[str, object] = {
        "subtype": "term",
        "term": term_key(node.tenant, term.text, term.kind),
        "home": home,
    }
    if term.kind is not TermKind.TITLE:
        row["begins"] = beginning(node.tenant, term.text)
    if term.kind is TermKind.NAME:
        row["place"] = name_place(node.tenant, node.context, term.text)
    return row


def _phrase_row(node: Node, home: str, phrase: str) -> dict[str, object]:
    rank = precedence(node.importance, node.protected)
    return {"subtype": "phrase", "home": home, "place": f"{phrase_prefix(node.tenant, phrase)}{rank:04d}"}


def arrivals_record(tenant: str, context: str) -> str:
    """Return the key of the record that counts a context's arrivals and serves as its lock."""
    return f"arrivals:{make_uid(tenant, context)}"


def term_scope_key(tenant: str, context: str) -> str:
    """Return the key of the counts of terms of a context, or with "" of a whole tenant."""
    return make_uid(tenant, context, "terms")


def steps_record(tenant: str, context: str, flow: str) -> str:
    """Return the key of the record that counts a flow's steps."""
    return f"steps:{make_uid(tenant, context, flow)}"


def pending_extraction_record(item: str) -> str:
    """Return the key of an item's pending extraction record."""
    return f"unread:{item}"


def use_record(item: str) -> str:
    """Return the key of an item's usage record."""
    return f"use:{item}"


def job_run_record(task: str) -> str:
    """Return the key of the record of a task's last run."""
    return f"round:{task}"


def step_record(step_id: str) -> str:
    """Return the key of a step of the sleep cycle."""
    return f"step:{step_id}"


def erasure_record(erasure: str, number: int | None = None) -> str:
    """Return the key of a part of an erasure's record; without a number, the prefix of all its parts."""
    return f"erasure:{erasure}:" + (f"{number:09d}" if number is not None else "")


def receipt_record(tenant: str, key: str) -> str:
    """Return the key of a receipt's record."""
    return f"receipt:{make_uid(tenant, key)}"


def numbers_of(node: Node) -> Iterator[tuple[str, int]]:
    """Yield the counter records of a node's arrival and step numbers, with these numbers."""
    if node.arrival is not None:
        yield arrivals_record(node.tenant, node.context), node.arrival
    if node.flow_id is not None and node.flow_step is not None:
        yield steps_record(node.tenant, node.context, node.flow_id), node.flow_step


@dataclass(frozen=True, slots=True)
class EdgeTypes:
    """Edge types: ``all`` that the database may hold, sorted, for queries; ``registry`` of those to be written."""

    registry: EdgeRegistry
    all: tuple[str, ...]

    def stored(self, types: Iterable[str]) -> tuple[str, ...]:
        """Return the ``types`` that the database may hold, each once."""
        return tuple(name for name in dict.fromkeys(types) if name in self.all)
