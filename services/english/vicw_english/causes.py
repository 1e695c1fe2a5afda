"""Extract causes and effects (CAUSED), as spans of the text, by cue words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vicw_english.cues import CauseSide, Cue, certainty_of, cue_in, reports_failure
from vicw_english.tagging.analysis import Sentence, Word
from vicw_shared.text import Span

_MAX_SENTENCES_BACK = 3
"""Limit on the preceding sentences searched for the effect of a named cause."""
_CAUSE_NOUNS = frozenset({"cause", "reason", "culprit"})
_CAUSE_MODIFIERS = frozenset({"root", "the", "main", "real", "underlying", "only", "actual"})
_COPULAS = frozenset({"is", "was", "are", "were", "'s"})
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM", "PRON", "SYM", "X"})
_RELATIVES = frozenset({"that", "which", "who"})
_ASIDE = frozenset({"PUNCT", "CCONJ"})
_SUBJECTS = frozenset("i we he she they it".split())
_OF_NOUN = frozenset({"DET", "ADJ", "NOUN", "PROPN", "NUM"})
_VERBS = frozenset({"VERB", "AUX"})


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause and its effect as character spans of the text, with a certainty in [0, 1].

    ``rule`` is the cue that marks it.
    """

    cause: Span
    effect: Span
    certainty: float
    rule: str


def causes_in(sentences: Sequence[Sentence]) -> list[Cause | None]:
    """Return the cause that each sentence of a text states, or None, in order.

    If a cue starts the sentence, the preceding one is the cause (``Therefore, …``) or the effect (``Because …`` alone).
    ``That`` at the start of a text refers to the previous turn: its span is that word.
    """
    return [_explicit_cause(sentences, number) or _cued_cause(sentences, number) for number in range(len(sentences))]


def _cued_cause(sentences: Sequence[Sentence], number: int) -> Cause | None:
    words = sentences[number].words
    cue = cue_in(words)
    if cue is None:
        return None
    behind = _trimmed(words, cue.last + 1, _end(words, cue))
    if cue.fronted and cue.side is CauseSide.BEHIND:
        cut = _effect_start(words, cue.last + 1)
        own_part, other_part = (
            (_trimmed(words, cue.last + 1, cut), _trimmed(words, cut, len(words))) if cut else (behind, None)
        )
    else:
        own_part, other_part = behind, None if cue.fronted else _trimmed(words, _start(words, cue), cue.first)
    own_span = _span(words, own_part)
    if own_span is None:
        return None
    other_span = _span(words, other_part) if other_part is not None else _preceding(sentences, number, cue)
    if other_span is None:
        return None
    cause, effect = (own_span, other_span) if cue.side is CauseSide.BEHIND else (other_span, own_span)
    return Cause(cause, effect, certainty_of(words, cue.certainty), cue.rule)


def _preceding(sentences: Sequence[Sentence], number: int, cue: Cue) -> Span | None:
    """Return the preceding sentence; at the start of a text, *that* or *this*, which refers to the previous turn."""
    if number > 0:
        return sentences[number - 1].span
    word = sentences[number].words[cue.first]
    return Span(word.start, word.end) if cue.side is CauseSide.BEFORE and word.lower in {"that", "this"} else None


def _start(words: Sequence[Word], cue: Cue) -> int:
    """Return where the clause before a cue begins: at a relative's noun, else after a separator or at the start."""
    if cue.first > 1 and words[cue.first - 1].lower in _RELATIVES and words[cue.first - 2].tag != "PUNCT":
        start = cue.first - 1  # the noun of a relative clause
        while start > 0 and words[start - 1].tag in _OF_NOUN:
            start -= 1
        return start
    starts = (at + 1 for at in range(cue.first - 1) if _separates_clauses(words, at))
    return max(starts, default=0)


def _end(words: Sequence[Word], cue: Cue) -> int:
    """Return where the clause after a cue ends: at a separator or, in a relative clause, at the next verb."""
    relative = cue.first > 1 and words[cue.first - 1].lower in _RELATIVES and words[cue.first - 2].tag != "PUNCT"
    for at in range(cue.last + 1, len(words)):
        if _separates_clauses(words, at) or (relative and words[at].tag in _VERBS):
            return at
    return len(words)


def _separates_clauses(words: Sequence[Word], at: int) -> bool:
    """Return whether two clauses are separated here: by a semicolon, or a comma before *but* or *and*."""
    follows = words[at + 1] if at + 1 < len(words) else None
    return words[at].text == ";" or (words[at].text == "," and follows is not None and follows.lower in {"but", "and"})


def _effect_start(words: Sequence[Word], first: int) -> int | None:
    """Return where the effect begins after a leading reason; None if the effect comes before it."""
    comma = next((at for at in range(first, len(words)) if words[at].text == ","), None)
    if comma is not None:
        return comma
    positions = range(first + 2, len(words) - 1)
    return next(
        (at for at in positions if words[at].lower in _SUBJECTS and words[at - 1].tag in {"NOUN", "VERB"}), None
    )


def _trimmed(words: Sequence[Word], first: int, end: int) -> range:
    """Return the positions without punctuation, conjunctions and relative pronouns at either end."""
    while first < end and words[first].tag in _ASIDE:
        first += 1
    while first < end and (words[end - 1].tag in _ASIDE or (words[end - 1].lower in _RELATIVES and end - first > 1)):
        end -= 1  # a relative alone refers back: "That led to …"
    if end == first + 2 and words[first].tag == "PRON" and words[first + 1].tag == "AUX":
        end -= 1  # "It was because of …"
    return range(first, end)


def _span(words: Sequence[Word], positions: range) -> Span | None:
    """Return the character span of some words; None if they have no content word."""
    if not any(words[at].tag in _CONTENT and any(map(str.isalnum, words[at].text)) for at in positions):
        return None
    return Span(words[positions[0]].start, words[positions[-1]].end)


def _explicit_cause(sentences: Sequence[Sentence], number: int) -> Cause | None:
    """Return the cause that a sentence names explicitly: ``the root cause of the crash was …``.

    The effect of ``the reason is …`` is the last preceding sentence that reports a failure.
    """
    words = sentences[number].words
    lower = [word.lower for word in words]
    for position, word in enumerate(lower):
        if word not in _CAUSE_NOUNS or lower[max(position - 1, 0)] not in _CAUSE_MODIFIERS:
            continue
        verb = next((at for at in range(position + 1, len(words)) if lower[at] in _COPULAS), None)
        if verb is None or "," in lower[position:verb]:
            continue
        cause, effect = _span(words, _trimmed(words, verb + 1, len(words))), None
        if verb == position + 1:
            preceding = reversed(sentences[max(number - _MAX_SENTENCES_BACK, 0) : number])
            effect = next((sentence.span for sentence in preceding if reports_failure(sentence.words)), None)
        elif lower[position + 1] in {"of", "for", "behind"}:
            effect = _span(words, _trimmed(words, position + 2, verb))
        if cause is not None and effect is not None:
            return Cause(cause, effect, 0.9, "cause-of")
    return None
