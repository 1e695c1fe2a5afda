"""What the mirror shows of an item: an atom, and the bundles that it stands in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import starmap

from vicw_shared.clock import to_us
from vicw_shared.consolidation.ledger import LedgerEntry, entries_of
from vicw_shared.domains import CODING
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import PAGE
from vicw_shared.ports import ItemView
from vicw_shared.text import fold_case
from vicw_sleep.mirror.file_names import digest, source_name

Place = tuple[int, int, str]
"""Where an atom stands in its bundles: when it happened (microseconds), its arrival, its uid."""


@dataclass(frozen=True, slots=True, order=True)
class Shelf:
    """A bucket and a tag, folded; ``tag`` is empty for what has none."""

    bucket: str
    tag: str


@dataclass(frozen=True, slots=True, order=True)
class Bundle:
    """What pages are made of: the atoms of one source on one shelf.

    ``source`` is the caller's; of what has none its flow, else its context. ``kind`` tells which it is.
    """

    shelf: Shelf
    context: str
    kind: str
    source: str

    @property
    def key(self) -> str:
        """What stands for it in the names of its pages."""
        return digest(self.shelf.bucket, self.shelf.tag, self.context, self.kind, self.source)

    @property
    def name(self) -> str:
        """What its source is called."""
        return source_name(self.source) if self.kind == "source" else self.source


@dataclass(frozen=True, slots=True)
class MirroredSource:
    """What a Macro-Event stands for: an item as it was, and its text."""

    item: Node
    text: str


@dataclass(frozen=True, slots=True)
class Atom:
    """An item with its text. ``auto_tags`` were added by dreams."""

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
        """When it happened; of what has no time when it was stored."""
        return self.item.timestamp or self.item.created_at

    @property
    def is_code(self) -> bool:
        """Whether its text is code as a whole, not prose with code in it."""
        return self.item.label is Label.ENTITY and self.item.domain == CODING and self.item.subtype != PAGE

    @property
    def place(self) -> Place:
        """Its place in all of its bundles."""
        return _place(self.item)

    @property
    def ends_at(self) -> datetime | None:
        """When it is over, or true no more, if that is known."""
        return min((at for at in (self.item.expires_at, self.item.valid_to) if at is not None), default=None)

    @property
    def shelves(self) -> list[Shelf]:
        """Each bucket with each tag. What is in no bucket is in one of its context's name."""
        buckets = sorted(set(map(fold_case, self.buckets))) or [fold_case(self.item.context)]
        tags = sorted(set(map(fold_case, self.tags))) or [""]
        return [Shelf(bucket, tag) for bucket in buckets for tag in tags]

    @property
    def bundles(self) -> list[Bundle]:
        """Where it stands: once on each of its shelves."""
        item = self.item
        named = (("source", item.source), ("flow", item.flow_id), ("context", item.context))
        kind, source = next((kind, name) for kind, name in named if name)
        return [Bundle(shelf, item.context, kind, source) for shelf in self.shelves]


def atom_of(view: ItemView) -> Atom | None:
    """Return the atom of an item; None for one without a text of its own (an echo repeats another)."""
    item, passages = view.item, {passage.uid: passage for passage in view.passages}
    entries = list(entries_of(view.passages).values())
    folded = {uid for entry in entries for uid in _proofs(entry)}
    # A summary is cut at its lines, which its passages leave out; what a caller has sent is cut inside of it.
    text = _joined([node for uid, node in passages.items() if uid not in folded], "\n" if item.is_macro else "")
    if not text:
        return None
    leaves = sorted((entry for entry in entries if not entry.item.is_macro), key=lambda entry: _place(entry.item))
    proofs = [(entry.item, _joined([passages[uid] for uid in _proofs(entry) if uid in passages])) for entry in leaves]
    about = frozenset(map(fold_case, view.about))
    told = view.tags, view.buckets, about
    return Atom(item, text, *told, tuple(starmap(MirroredSource, proofs)), view.auto_tags)


def _proofs(entry: LedgerEntry) -> list[str]:
    """Return the passages that proved a consolidated item."""
    own = entry.item.uid
    return [edge.target for edge in entry.edges if edge.type == "EVIDENCED_BY" and edge.source == own]


def _joined(passages: Iterable[Node], gap: str = "") -> str:
    """Return a text of its passages, which together are it to the character."""
    return gap.join(p.text or "" for p in sorted(passages, key=lambda p: (p.flow_step or 0, p.uid)))


def _place(item: Node) -> Place:
    return (to_us(item.timestamp or item.created_at), item.arrival or 0, item.uid)
