"""A claim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement says of an attribute of something, now.

    ``subject`` begins with ``$speaker``, ``$addressee``, a folded name (``ana's`` if what follows is hers) or a
    pronoun, with what is theirs behind it (``$speaker car``), or is the folded words for a thing (``staging server``).
    ``value`` is what the attribute is, as it is written; if it ``ended``, what it is no longer, empty for whatever it
    was. ``source`` is the folded name of whom the speaker has it from, empty if that is not told, None if nobody.

    ``weak``: an attribute that may have several values, so that another takes no other's place unless it says that
    something has changed (``now``: *these days*, *no longer*, *moved*, *instead*). ``also``: this is the claim
    before it once more, told of something else (what is *renamed from A to B* is also what was known as *a*).
    """

    subject: str
    attribute: str
    value: str
    ended: bool = False
    source: str | None = None
    weak: bool = False
    now: bool = False
    also: bool = False
