"""Atoms and bundles: an item as the mirror shows it, and the groups of items that form pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap

from vicw_core.consolidation.ledger import LedgerEntry, entries_of
from vicw_shared.clock import to_us
from vicw_shared.domains import CODING
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import PAGE
from vicw_shared.ports import ItemView
from vicw_shared.text import fold_case
from vicw_sleep.mirror.file_names import digest, source_name

Place = tuple[int, int, str]
"""Sort key of an atom in its bundles: time of the event (microseconds), arrival, uid."""


@dataclass(frozen=True, slots=True, order=True)
class Shelf:
    """A bucket and a tag, folded; ``tag`` is empty for untagged items."""

    bucket: str
    tag: str


@dataclass(frozen=True, slots=True, order=True)
class Bundle:
    """The atoms of one source on one shelf, which pages are made of.

    ``source`` is the caller's source, else the flow, else the context; ``kind`` says which.
    """

    shelf: Shelf
    context: str
    kind: str
    source: str

    @property
    def key(self) -> str:
        """Its hash in the names of its pages."""
        return digest(self.shelf.bucket, self.shelf.tag, self.context, self.kind, self.source)

    @property
    def name(self) -> str:
        """The display name of its source."""
        return source_name(self.source) if self.kind == "source" else self.source


@dataclass(frozen=True, slots=True)
class MirroredSource:
    """A source of a Macro-Event: the item as it was, and its text."""

    item: Node
    text: str


@dataclass(frozen=True, slots=True)
class Atom:
    """An item with its text. Dreams added ``auto_tags``."""

    item: Node
    text: str
    tags: tuple[str, ...]
    buckets: tuple[str, ...]
    about: frozenset[str]
    proofs: tuple[MirroredSource, ...]
    auto_tags: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The caller's id, else the uid."""
        return self.item.source_id or self.item.uid

    @property
    def happened_at(self) -> datetime:
        """When it happened; without a time, when it was stored."""
        return self.item.timestamp or self.item.created_at

    @property
    def is_code(self) -> bool:
        """Whether its whole text is code, not prose with code in it."""
        return self.item.label is Label.ENTITY and self.item.domain == CODING and self.item.subtype != PAGE

    @property
    def place(self) -> Place:
        """Its sort key in all of its bundles."""
        return _place(self.item)

    @property
    def ends_at(self) -> datetime | None:
        """When it expires or stops being true, if that is known."""
        return min((at for at in (self.item.expires_at, self.item.superseded_at) if at is not None), default=None)

    @property
    def shelves(self) -> list[Shelf]:
        """Each bucket with each tag. An item without a bucket is in one named like its context."""
        buckets = sorted(set(map(fold_case, self.buckets))) or [fold_case(self.item.context)]
        tags = sorted(set(map(fold_case, self.tags))) or [""]
        return [Shelf(bucket, tag) for bucket in buckets for tag in tags]

    @property
    def bundles(self) -> list[Bundle]:
        """Its bundles: one on each of its shelves."""
        item = self.item
        named = (("source", item.source), ("flow", item.flow_id), ("context", item.context))
        kind, source = next((kind, name) for kind, name in named if name)
        return [Bundle(shelf, item.context, kind, source) for shelf in self.shelves]


def atom_of(view: ItemView) -> Atom | None:
    """Return the atom of an item; None for one without a text of its own (a duplicate repeats another item)."""
    item, passages = view.item, {passage.uid: passage for passage in view.passages}
    entries = list(entries_of(view.passages).values())
    consolidated = {uid for entry in entries for uid in _proofs(entry)}
    # A summary is cut at newlines, which its passages omit; a caller's text is cut without omissions.
    text = _joined([node for uid, node in passages.items() if uid not in consolidated], "\n" if item.is_macro else "")
    if not text:
        return None
    leaves = sorted((entry for entry in entries if not entry.item.is_macro), key=lambda entry: _place(entry.item))
    proofs = [(entry.item, _joined([passages[uid] for uid in _proofs(entry) if uid in passages])) for entry in leaves]
    about = frozenset(map(fold_case, view.about))
    shared_fields = view.tags, view.buckets, about
    return Atom(item, text, *shared_fields, tuple(starmap(MirroredSource, proofs)), view.auto_tags)


def _proofs(entry: LedgerEntry) -> list[str]:
    """Return the passages that proved a consolidated item."""
    own = entry.item.uid
    return [edge.target for edge in entry.edges if edge.type == "EVIDENCED_BY" and edge.source == own]


def _joined(passages: Iterable[Node], gap: str = "") -> str:
    """Return the text of passages, joined without loss."""
    return gap.join(p.text or "" for p in sorted(passages, key=lambda p: (p.flow_step or 0, p.uid)))


def _place(item: Node) -> Place:
    return (to_us(item.timestamp or item.created_at), item.arrival or 0, item.uid)
