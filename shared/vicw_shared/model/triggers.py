"""Trigger phrases: phrases by which a caller wants an item to be found, and the phrases of a question.

A question matches a phrase if it contains its words in a row, in any casing. Each engine indexes the phrases of live
items in order of precedence, and looks up all phrases of a question: no scan.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from vicw_shared.model.core5 import Label, Node
from vicw_shared.text import fold_case, unaccented

MAX_PHRASE_WORDS = 8
"""Maximum words of a phrase that a question can match: every run of up to so many of its words is looked up."""
MAX_QUESTION_WORDS = 250
"""Words of a question that are considered: a longer text is a document, for which trigger phrases are not meant."""
TIERS = {"constitutional": 1.0, "critical": 0.9, "important": 0.7, "normal": 0.5, "temporary": 0.2}
"""Importance of each tier, in [0, 1]."""
PROTECTED_TIERS = frozenset({"constitutional", "critical"})
DEFAULT_IMPORTANCE = TIERS["normal"]
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words: each of their characters is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+[+#]*")  # C++ and C# are no C


def phrase_of(text: str) -> str:
    """Return a phrase in look-up form, its case-folded words joined by spaces; empty if it has no words."""
    return " ".join(_WORD.findall(fold_case(text)))


def spellings(phrase: str) -> tuple[str, ...]:
    """Return a phrase, and its form without accents if it has any.

    >>> spellings("aschenbrödel"), spellings("cinderella")
    (('aschenbrödel', 'aschenbrodel'), ('cinderella',))
    """
    return (phrase,) if phrase.isascii() else tuple(dict.fromkeys((phrase, unaccented(phrase))))


def phrases_of(phrases: Iterable[str]) -> list[str]:
    """Return phrases in look-up form, each once, without empty ones."""
    return list(dict.fromkeys(filter(None, map(phrase_of, phrases))))


def has_triggers(node: Node) -> bool:
    """Return whether a node can be found by trigger phrases: a live item that has some."""
    return bool(node.trigger_phrases) and node.label is not Label.CHUNK and node.retired_at is None


def phrases_in(question: str) -> list[str]:
    """Return each run of at most MAX_PHRASE_WORDS words of a question's first MAX_QUESTION_WORDS words, once."""
    words = [match.group() for match in islice(_WORD.finditer(fold_case(question)), MAX_QUESTION_WORDS)]
    runs = (
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MAX_PHRASE_WORDS, len(words)) + 1)
    )
    return list(dict.fromkeys(runs))


def precedence(importance: float | None, protected: bool) -> int:
    """Return an item's rank among the items of one phrase, from 0: protected items first, then by importance.

    The resolution is a thousandth of importance; an item without importance has that of the tier ``normal``.
    """
    weight = importance if importance is not None else DEFAULT_IMPORTANCE
    return (0 if protected else 1001) + 1000 - round(1000 * weight)


def sort_by_precedence(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes, each once, in order of precedence; ties the newest first."""
    by_uid = {node.uid: node for node in nodes}
    return sorted(
        by_uid.values(),
        key=lambda node: (precedence(node.importance, node.protected), -node.created_at.timestamp(), node.uid),
    )
