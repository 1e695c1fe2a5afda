"""Whom the words of one sentence mean: keys of its names, and of who is named by a relationship."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vicw_ingest.extraction.reading import ADDRESSEE, SPEAKER
from vicw_ingest.extraction.rules.names import Kind, Name
from vicw_shared.language.analysis import Word

_FIRST = frozenset({"i", "me", "myself"})
_SECOND = frozenset({"you", "yourself"})
_PEOPLE = frozenset({Kind.NAME, Kind.HANDLE})


class Ends:
    """The ends of a sentence. ``named`` maps each word of a person's name to the word that heads it."""

    def __init__(self, words: Sequence[Word], names: Iterable[Name]) -> None:
        self._words = words
        self._heads: dict[int, str] = {}
        self.written = list(dict.fromkeys(names))
        self.keys: dict[Name, str] = {}
        self.named = {
            place: name.head
            for name in self.written
            if name.kind in _PEOPLE
            for place, word in enumerate(words)
            if name.span.start <= word.start and word.end <= name.span.end
        }
        self.kin: dict[int, str] = {}
        self.relatives: dict[tuple[str, str], str] = {}

    def know(self, name: Name, key: str) -> None:
        """Note whom a name means."""
        self.keys[name] = key
        if name.kind in _PEOPLE:
            self._heads[name.head] = key

    def name_at(self, head: int) -> Name:
        """Return the person's name that a word heads."""
        return next(name for name in self.written if name.kind in _PEOPLE and name.head == head)

    def by_head(self) -> dict[int, Name]:
        """Return the names of people by the words that head them."""
        return {name.head: name for name in self.written if name.kind in _PEOPLE}

    def called(self, place: int) -> str | None:
        """Return the key of the name that a word is part of, if it is known whom that means."""
        return self._heads.get(self.named[place]) if place in self.named else None

    def of(self, place: int) -> str | None:
        """Return the key of whom a word means; None where that is not plain."""
        word = self._words[place].lower
        if word in _FIRST:
            return SPEAKER
        if word in _SECOND:
            return ADDRESSEE
        return self.called(place) if place in self.named else self.kin.get(place)
