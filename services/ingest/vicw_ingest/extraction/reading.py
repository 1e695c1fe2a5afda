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
HE = "$he"
SHE = "$she"
"""Ends of links that no text names: the item itself, who says it, to whom, what was said before, of whom that was."""


def item_key(source_id: str) -> str:
    """Return the key of an item of the context, if there is one under this id."""
    return f"{ITEM}:{source_id}"


@dataclass(frozen=True, slots=True)
class Thing:
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
class Kin:
    """Somebody whom the text names by a relationship alone: ``my sister``. ``whose`` is the key of the other end."""

    key: str
    whose: str
    relationship: str
    span: Span


@dataclass(frozen=True, slots=True)
class Gist:
    """By what an event is known when it is told again, in other words.

    ``key``: what happened to what (*certificate expired*); ``described``: which one (*payment*); ``at``: the time that
    is told with it.
    """

    key: str
    described: frozenset[str]
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that the text says. A statement is a whole sentence, and gets a vector of its own.

    ``at`` is when it happened, where the text says so; ``gist`` is None where it takes the context to know what it was.
    """

    key: str
    text: str
    subtype: str
    span: Span
    at: datetime | None = None
    gist: Gist | None = None

    @property
    def is_statement(self) -> bool:
        """Tell whether it is a sentence."""
        return self.subtype == STATEMENT


STATEMENT = "statement"


@dataclass(frozen=True, slots=True)
class Link:
    """A relation between two keys. ``rule`` names what found it, and ends up in the edge's ``created_by``."""

    source: str
    type: str
    target: str
    rule: str
    certainty: float | None = None
    desc: str | None = None


@dataclass(frozen=True, slots=True)
class Asserted:
    """What a statement says that an attribute of something is now: a newer one may replace it.

    It is of ``whose`` (the key of an end; None: of nobody who is named) and what is theirs, ``of`` (``car``, ``staging
    server``; may be empty). ``ended``: what it was is over. ``source``: the key of whom the speaker has it from, an
    empty one where that is not told; None: nobody, it is first-hand. ``weak``: there may be others besides.
    ``now``: it is said that something has changed. ``also``: what the one before says, told of another thing.
    ``relative``: whom the text calls ``whose`` sister (a key), and what is hers: it is said of her, if it is known
    who that is.
    """

    statement: str
    whose: str | None
    of: str
    attribute: str
    value: str
    ended: bool = False
    source: str | None = None
    weak: bool = False
    now: bool = False
    also: bool = False
    relative: tuple[str, str] | None = None


@dataclass(slots=True)
class Reading:
    """All that was read in one text, and who has read it. Spans are characters of that text."""

    things: list[Thing] = field(default_factory=list)
    kin: list[Kin] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    asserted: list[Asserted] = field(default_factory=list)
    by: str = "rules"

    def add(self, other: Reading) -> None:
        """Take in what another part of the text tells of; its keys are others than those here."""
        self.things += other.things
        self.kin += other.kin
        self.happenings += other.happenings
        self.links += other.links
        self.asserted += other.asserted


@dataclass(frozen=True, slots=True)
class Source:
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
