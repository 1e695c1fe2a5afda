"""Facts of a text that a summary must not lose: names, numbers, dates, negations, causes.

A fact is a kind and a key; a text contains it if the key is among the text's own facts. Source and summary derive keys
the same way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Set
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from vicw_core.index import sparse
from vicw_shared.text import fold_case


class FactKind(StrEnum):
    """Kinds of facts."""

    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    CAUSE = "cause"


class Fact(NamedTuple):
    """A fact. The key of a negation is the words denied, that of a cause the words of its sentence."""

    kind: FactKind
    key: str


_NUMBER = re.compile(r"(?<![\w.])[+-]?\d(?:[\d.,:/]*\d)?%?(?![\w])|(?<!\w)\d+(?=[a-z]{1,3}\b)")
_COUNT = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|twenty|thirty|forty|fifty|hundred|thousand"
    r"|million|half|twice)\b",
    re.IGNORECASE,
)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,4}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|(?!may\b){_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|tomorrow|tonight|today|last night"
    r"|(?:last|next) (?:week|month|year|summer|winter|spring|autumn|fall))\b",
    re.IGNORECASE,
)
_PLAIN_NOT = (
    r"\b(?:not|never|no longer|no one|nobody|nothing|nowhere|none|neither|nor|without|cannot)\b"
    r"|\w+n['\N{RIGHT SINGLE QUOTATION MARK}]t\b"
    r"|\b(?:ai|are|ca|could|did|do|does|had|has|have|is|was|were|wo|would)nt\b"
)
"""Negations. Chats leave out apostrophes."""
_NO = r"no(?= (?!doubts?\b|matter\b|prob|wonder\b|worries\b|sooner\b|more\b|less\b|see\b|talk\b|chat\b)\w)"
"""*no* before a noun; the *no* of *no, we did* answers a question instead."""
NOT = re.compile(rf"{_PLAIN_NOT}|\b(?:hardly|scarcely)\b|\b{_NO}", re.IGNORECASE)
"""Matches a negation; what follows is denied."""
_NOT_TO_LOSE = re.compile(
    rf"{_PLAIN_NOT}|\bhardly (?:ever|any|anyone|anybody)\b|(?:^|[.!?;])\W*{_NO}"
    rf"|\b(?:ha(?:ve|s|d|ving)|is|are|was|were|been?|got|with|eats?|drinks?|takes?|needs?|wants?|uses?) {_NO}",
    re.IGNORECASE,
)
"""Negations that are facts: of *no*, those after verbs of being, having or taking and those that begin a sentence.
*paid no heed* in a story is not worth a sentence.
"""
_CAUSE = re.compile(
    r"\b(?:because|since|therefore|due to|caus(?:e|es|ed|ing)|as a result|thus|hence|led to|leads to|so that"
    r"|in order to|thanks to|that is why|that's why|owing to)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;)]\s)[A-Z][\w'-]*\w(?:\s[A-Z][\w'-]*\w)*|\b[A-Z]{2,}[\w-]*\b")
"""Capitalised words inside a sentence: at its start every word has a capital."""
_NEGATION_STEMS = 3
"""Stems after a negation that make up its key."""
_CAUSAL_SHARE, _PLAIN_SHARE = 0.5, 0.8
"""Shares of a cause's words that a sentence needs to state it: a causal sentence, and any other one."""
_NOT_NAMES = frozenset("i i'm i'll i've i'd ok okay".split())


def facts_of(sentence: str, named: Collection[str] = (), caused: Collection[str] = ()) -> set[Fact]:
    """Return the facts of a sentence. ``named`` are names that may be in it, ``caused`` sentences that state causes.

    >>> sorted(fact.key for fact in facts_of("On Friday we did not ship 3 parts to Porto."))
    ['3', 'friday', 'porto', 'ship 3 part']
    """
    facts = {*_plain_facts(sentence), *(Fact(FactKind.NAME, name) for name in _known_names(sentence, named))}
    if _CAUSE.search(sentence) is not None or sentence.strip() in caused:
        facts.add(Fact(FactKind.CAUSE, " ".join(sorted(set(sparse.stems(sentence))))))
    return facts


def is_stated(fact: Fact, stated: Collection[Fact], sentence_stems: Collection[Set[str]]) -> bool:
    """Return whether a negation or a cause is stated in other words: by the facts ``stated`` and the
    ``sentence_stems`` of each sentence. Any other kind is stated only by the same fact.
    """
    words = set(fact.key.split())
    if fact.kind is FactKind.NEGATION:
        # By the first word after it: "the boat was not painted" does not state that it was not sold.
        first = fact.key.split()[0]
        return any(first in other.key.split() for other in stated if other.kind is FactKind.NEGATION)
    if fact.kind is FactKind.CAUSE:
        causal = [set(other.key.split()) for other in stated if other.kind is FactKind.CAUSE]
        return any(
            len(words & stems) >= share * len(words)
            for candidates, share in ((causal, _CAUSAL_SHARE), (sentence_stems, _PLAIN_SHARE))
            for stems in candidates
        )
    return False


@lru_cache(2000)
def _plain_facts(sentence: str) -> frozenset[Fact]:
    """Return the facts visible in the letters alone. Cached: the same sentence is analysed more than once."""
    facts = {Fact(FactKind.NUMBER, match[0].strip("+").rstrip(",.")) for match in _NUMBER.finditer(sentence)}
    facts |= {Fact(FactKind.NUMBER, match[0].casefold()) for match in _COUNT.finditer(sentence)}
    facts |= {Fact(FactKind.DATE, " ".join(match[0].casefold().split())) for match in _DATE.finditer(sentence)}
    facts |= {Fact(FactKind.NAME, name) for name in _names(sentence)}
    denials = (_negation_key(sentence, match.end()) for match in _NOT_TO_LOSE.finditer(sentence))
    facts |= {Fact(FactKind.NEGATION, key) for key in denials if key}
    return frozenset(facts)


def _known_names(sentence: str, named: Collection[str]) -> Iterator[str]:
    folded_text = f" {' '.join(re.findall(r'\w+', fold_case(sentence)))} " if named else ""
    for name in named:
        words = " ".join(re.findall(r"\w+", fold_case(name)))
        if words and f" {words} " in folded_text:
            yield words


def _names(sentence: str) -> Iterator[str]:
    for match in _NAME.finditer(sentence):
        words = " ".join(re.findall(r"\w+", fold_case(match[0])))
        if words not in _NOT_NAMES and _DATE.fullmatch(match[0]) is None:
            yield words


def _negation_key(sentence: str, end: int) -> str:
    return " ".join(list(sparse.stems(re.split(r"[.?!;]", sentence[end:])[0]))[:_NEGATION_STEMS])
