"""The things that one text names: a name is one thing, unless the text says that two are called so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from vicw_ingest.extraction.reading import Thing
from vicw_ingest.extraction.rules.relationships import excludes, kind_of
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label
from vicw_shared.text import fold


@dataclass(slots=True)
class Things:
    """Things by what they are called."""

    _things: dict[tuple[str | None, str], Thing] = field(default_factory=dict)
    _relatives: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)  # owner, relationship, key

    def all(self) -> list[Thing]:
        """Return them."""
        return list(self._things.values())

    def keys(self) -> Mapping[str, str]:
        """Return the keys by the folded names; of what two are called, or perhaps nobody, there is none."""
        return {
            name: thing.key
            for (kind, name), thing in self._things.items()
            if not _is_namesake(kind) and not thing.only_known
        }

    def is_doubtful(self, key: str) -> bool:
        """Tell whether it takes somebody who is called so to make a name of this."""
        return any(thing.key == key and thing.only_known for thing in self._things.values())

    def name_of(self, key: str) -> str:
        """Return what a thing is called; nothing of what is none."""
        return next((thing.name for thing in self._things.values() if thing.key == key), "")

    def thing(
        self, name: str, label: Label, kind: str | None, guess: str, span: Span, *, only_known: bool = False
    ) -> str:
        """Return the key of what is called so."""
        known = self._things.get((kind, fold(name)))
        if known is None:
            known = Thing(f"thing {len(self._things)}", name, label, kind, guess, span, only_known=only_known)
        elif guess == "person" or (known.only_known and not only_known):
            guess = guess if guess == "person" else known.guess
            known = replace(known, guess=guess, only_known=known.only_known and only_known)
        self._things[kind, fold(name)] = known
        return known.key

    def is_person(self, key: str) -> None:
        """Take a name for somebody's: whoever is a sister is a person."""
        for place, thing in self._things.items():
            if thing.key == key and thing.kind is None:
                self._things[place] = replace(thing, guess="person", only_known=False)

    def relative(self, name: str, owner: str, relationship: str, span: Span) -> str | None:
        """Return the key of an owner's relative of a name, if another's relative in this text is called so, too.

        None: whoever is called so is meant. Then, and else, it is noted whose relative that is (``note``).
        """
        folded = fold(name)
        told = self._relatives.get(folded, [])
        for one, said, key in told:
            if one == owner and not excludes(said, relationship):
                return key
        apart = {key for one, said, key in told if _are_two(one, said, owner, relationship)}
        if others := [key for _, _, key in told if key not in apart]:
            return others[0]
        if not apart:
            return None
        if (None, folded) in self._things:
            self._things[_namesake(0), folded] = self._things.pop((None, folded))
        number = len(self._things)
        key = f"thing {number}"
        self._things[_namesake(number), folded] = Thing(key, name, Label.ENTITY, None, "person", span)
        return key

    def note(self, name: str, owner: str, relationship: str, key: str) -> None:
        """Note that somebody of this name is an owner's relative."""
        self._relatives.setdefault(fold(name), []).append((owner, relationship, key))


def _are_two(one: str, said: str, other: str, relationship: str) -> bool:
    """Tell whether relatives of one name are two: two have a sister Ana, or one has a sister and an aunt Ana."""
    if one == other:
        return excludes(said, relationship)
    return kind_of(said) == kind_of(relationship) != ""


_NAMESAKE = "namesake "


def _namesake(number: int) -> str:
    return f"{_NAMESAKE}{number}"


def _is_namesake(kind: str | None) -> bool:
    return kind is not None and kind.startswith(_NAMESAKE)
