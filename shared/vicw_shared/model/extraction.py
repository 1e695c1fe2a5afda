"""Input and result of all extractors. Entity linking resolves the names to nodes when an item is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from vicw_shared.model.core5 import Label
from vicw_shared.text import Span

ITEM = "$item"
SPEAKER = "$speaker"
PREVIOUS = "$previous"
"""Keys of relation ends without a name: the item itself, its speaker, the previous turn."""


def item_key(source_id: str) -> str:
    """Return the key of the item with this id in the context; the item may not exist."""
    return f"{ITEM}:{source_id}"


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """An entity or concept named in the text.

    ``kind`` is the subtype if the form of the name decides it (``file``, ``url``). None: the subtype of the stored
    entity with this name, else ``guess``. ``scope`` is the file that defines a symbol: two files may each have a
    ``main``. ``only_known``: dropped if no stored entity has the name. ``proven``: the text defines and proves it.
    """

    key: str
    name: str
    label: Label
    kind: str | None
    guess: str
    span: Span
    scope: str | None = None
    description: str | None = None
    only_known: bool = False
    proven: bool = False


@dataclass(frozen=True, slots=True)
class ExtractedEvent:
    """An event found in the text. A statement is a whole sentence and gets a vector of its own.

    ``at`` is the beginning of the event's time, if the text gives one, and ``until`` its end, if known ("yesterday" is
    a day long).
    """

    key: str
    text: str
    subtype: str
    span: Span
    at: datetime | None = None
    until: datetime | None = None

    @property
    def is_statement(self) -> bool:
        """Whether the event is a statement."""
        return self.subtype == STATEMENT


STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A relation between two keys. ``rule`` names the rule that found it; the edge's ``created_by`` stores it."""

    source: str
    type: str
    target: str
    rule: str
    certainty: float | None = None
    desc: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeClaim:
    """A statement's claim about the current value of an attribute; a newer claim may supersede it.

    ``owner`` is the key of the attribute's owner; None: the text does not name the owner. ``of`` is the owner's thing
    that has the attribute (``car``, ``staging server``; may be empty). ``ended``: the value no longer holds.
    ``source``: the key of the speaker's source, empty if the source is unknown; None: the claim is first-hand.
    ``weak``: the attribute may have further values. ``now``: the text says that the value has changed.
    """

    statement: str
    owner: str | None
    of: str
    attribute: str
    value: str
    ended: bool = False
    source: str | None = None
    weak: bool = False
    now: bool = False


@dataclass(slots=True)
class TextExtraction:
    """Everything extracted from one text; ``by`` names the extractor. Spans are character offsets in that text."""

    entities: list[ExtractedEntity] = field(default_factory=list)
    events: list[ExtractedEvent] = field(default_factory=list)
    relations: list[ExtractedRelation] = field(default_factory=list)
    claims: list[AttributeClaim] = field(default_factory=list)
    by: str = "rules"

    def ends(self) -> set[str]:
        """Return the keys of all relation ends and claim owners."""
        ends = {end for relation in self.relations for end in (relation.source, relation.target)}
        return ends | {claim.owner for claim in self.claims if claim.owner}

    def add(self, other: TextExtraction) -> None:
        """Add the extraction of another part of the text. The keys of both must be disjoint."""
        self.entities += other.entities
        self.events += other.events
        self.relations += other.relations
        self.claims += other.claims


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text to extract from, with its time in the zone of the teller, its speaker and its title, if known.

    ``day_first`` is the order of day and month in dates with slashes that the text leaves open; None: its language's.
    """

    text: str
    at: datetime
    speaker: str | None = None
    name: str | None = None
    day_first: bool | None = None
