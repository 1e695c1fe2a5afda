"""Trigger phrases: words by which a caller wants an item to come up, and those that a question has (seed 002 §5.2).

A question has a phrase if it has its words in a row, in any casing. Each engine keeps an index of the phrases of live
items, the weightiest first; a question is looked up in it by its own phrases, so that nothing is scanned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from vicw_shared.model.core5 import Label, Node
from vicw_shared.text import fold_case, unaccented

MOST_WORDS = 8
"""Words of a phrase: a question is looked up by every run of so many of its words and fewer."""
READ_WORDS = 250
"""Words of a question that are looked at: a longer one is a document, which no phrase is meant for."""
TIERS = {"constitutional": 1.0, "critical": 0.9, "important": 0.7, "normal": 0.5, "temporary": 0.2}
"""What each tier weighs as an importance in [0, 1]."""
PROTECTED_TIERS = frozenset({"constitutional", "critical"})
UNSTATED = TIERS["normal"]
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no spaces between words: each of their characters is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+[+#]*")  # C++ and C# are no C


def phrase_of(text: str) -> str:
    """Return the words of a phrase as they are looked up; empty if it has none."""
    return " ".join(_WORD.findall(fold_case(text)))


def spellings(phrase: str) -> tuple[str, ...]:
    """Return a phrase, and as it is written without accents if it has some.

    >>> spellings("aschenbrödel"), spellings("cinderella")
    (('aschenbrödel', 'aschenbrodel'), ('cinderella',))
    """
    return tuple(dict.fromkeys((phrase, unaccented(phrase))))


def phrases_of(told: Iterable[str]) -> list[str]:
    """Return phrases as they are looked up, each once."""
    return list(dict.fromkeys(filter(None, map(phrase_of, told))))


def has_triggers(node: Node) -> bool:
    """Tell whether a node is found by phrases: an item of the present that has some."""
    return bool(node.trigger_phrases) and node.label is not Label.CHUNK and node.retired_at is None


def phrases_in(question: str) -> list[str]:
    """Return every phrase that a question could have, each once: at most MOST_WORDS for each of READ_WORDS words."""
    words = [match.group() for match in islice(_WORD.finditer(fold_case(question)), READ_WORDS)]
    runs = (
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1)
    )
    return list(dict.fromkeys(runs))


def precedence(importance: float | None, protected: bool) -> int:
    """Return an item's place among those of one phrase, from 0: what is protected first, then by importance.

    Thousandths of importance tell two apart; one that nobody has weighed is as important as a normal one.
    """
    weight = importance if importance is not None else UNSTATED
    return (0 if protected else 1001) + 1000 - round(1000 * weight)


def foremost(nodes: Iterable[Node]) -> list[Node]:
    """Return nodes, each once, in the order of their precedence; then the newest first."""
    found = {node.uid: node for node in nodes}
    return sorted(
        found.values(),
        key=lambda node: (precedence(node.importance, node.protected), -node.created_at.timestamp(), node.uid),
    )
