"""A claim."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What a statement says of an attribute of something, now.

    ``subject`` begins with ``$speaker``, ``$addressee``, a folded name or a pronoun, with what is theirs behind it
    (``$speaker car``), or is the folded words for a thing (``staging server``). ``value`` is what the attribute is, as
    it is written; if it ``ended``, what it is no longer, empty for whatever it was. ``source`` is the folded name of
    whom the speaker has it from, empty if that is not told, None if nobody.
    """

    subject: str
    attribute: str
    value: str
    ended: bool = False
    source: str | None = None
