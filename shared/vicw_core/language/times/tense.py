"""Whether a text is about the future."""

from __future__ import annotations

import re

_FUTURE = re.compile(
    r"\b(?:will|won't|shall|going to|gonna|'ll|next|tomorrow|plan(?:s|ned|ning)?\ (?:to|for|on)"
    r"|(?:am|is|are|'m|'s|'re)\s+(?:planned|scheduled|due|booked|set|\w+ing))\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|am|come|comes|starts?|begins?|leaves?|arrives?|opens?|closes?|meets?|visits?|have|has|get|gets"
    r"|appointments?|deadlines?|due|reminders?|reservations?|to-?do)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:\w{2,}ed|was|were|had|did|didn't|went|came|got|said|told|saw|met|left|broke|ran|took|made|found|gave|sent|"
    r"bought|lost|won|began|built|wrote|read|put|cut|hit|fell|flew|drove|felt|heard|held|kept|knew|paid|slept|"
    r"spoke|spent|stood|taught|thought|threw|understood|woke|wore)\b",
    re.IGNORECASE,
)


def is_about_future(text: str) -> bool:
    """Return whether a sentence is about the future."""
    return _FUTURE.search(text) is not None or (_PRESENT.search(text) is not None and _PAST.search(text) is None)
