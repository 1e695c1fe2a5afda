"""What a text tells of, in one form whoever has read it. Storing it finds out which nodes the names mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from vicw_shared.language.tokens import Span
from vicw_shared.model import Label

ITEM = "$item"
SPEAKER = "$speaker"
ADDRESSEE = "$addressee"
PREVIOUS = "$previous"
"""Ends of links that no text names: the item itself, who says it, to whom, what was said before."""


def item_key(source_id: str) -> str:
    """Return the key of an item of the context, if there is one under this id."""
    return f"{ITEM}:{source_id}"


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """Something that the text names.

    ``kind`` is its subtype as far as its form tells (``file``, ``url``); None: whatever is known by this name, else
    ``guess``. ``scope`` is the file that a symbol is defined in: two files may each have a ``main``. What is
    ``only_known`` is left out where nothing is known by the name. ``proven``: the text defines it, and is its proof.
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
    """Something that the text says. A statement is a whole sentence, and gets a vector of its own.

    ``at`` is when it happened, where the text says so.
    """

    key: str
    text: str
    subtype: str
    span: Span
    at: datetime | None = None

    @property
    def is_statement(self) -> bool:
        """Tell whether it is a sentence."""
        return self.subtype == STATEMENT


STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class ExtractedRelation:
    """A relation between two keys. ``rule`` names what found it, and ends up in the edge's ``created_by``."""

    source: str
    type: str
    target: str
    rule: str
    certainty: float | None = None
    desc: str | None = None


@dataclass(frozen=True, slots=True)
class AttributeClaim:
    """What a statement says that an attribute of something is now: a newer one may replace it.

    It is of ``whose`` (the key of an end; None: of nobody who is named) and what is theirs, ``of`` (``car``, ``staging
    server``; may be empty). ``ended``: what it was is over. ``source``: the key of whom the speaker has it from, an
    empty one where that is not told; None: nobody, it is first-hand. ``weak``: there may be others besides.
    ``now``: it is said that something has changed. ``also``: what the one before says, told of another thing.
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
    also: bool = False


@dataclass(slots=True)
class TextExtraction:
    """All that was read in one text, and who has read it. Spans are characters of that text."""

    things: list[ExtractedEntity] = field(default_factory=list)
    happenings: list[ExtractedEvent] = field(default_factory=list)
    links: list[ExtractedRelation] = field(default_factory=list)
    asserted: list[AttributeClaim] = field(default_factory=list)
    by: str = "rules"

    def ends(self) -> set[str]:
        """Return the keys of all that its links and claims are of."""
        ends = {end for link in self.links for end in (link.source, link.target)}
        return ends | {said.owner for said in self.asserted if said.owner}

    def add(self, other: TextExtraction) -> None:
        """Take in what another part of the text tells of; its keys are others than those here."""
        self.things += other.things
        self.happenings += other.happenings
        self.links += other.links
        self.asserted += other.asserted


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text to be read, with what has to be known of it: who speaks, when (UTC), what it is called, its path.

    ``may_be_code``: it is a program's, if it can be read as one; ``only_by_name``: nothing says so but its name, which
    prose may have, too. ``is_commit``: it is a commit, whatever it looks like.
    """

    text: str
    at: datetime
    speaker: str | None = None
    may_be_code: bool = False
    name: str | None = None
    path: str | None = None
    is_commit: bool = False
    only_by_name: bool = False
