"""Causal cue words, and the side of each on which the cause is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from vicw_core.language.times.vocabulary import language
from vicw_english.tagging.analysis import Word


class CauseSide(Enum):
    """The side of a cue on which the cause is."""

    BEHIND = auto()
    BEFORE = auto()


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue in a sentence: the positions of its first and last word, and the certainty of the cause (0 to 1).

    ``fronted``: it begins its sentence. ``rule`` is its words (``as-a-result-of``).
    """

    first: int
    last: int
    side: CauseSide
    certainty: float
    fronted: bool
    rule: str


_BEHIND = {
    0.95: "because; because of; due to; owing to; as a result of; as a consequence of; caused by; on account of",
    0.9: "resulted from; results from; resulting from; stems from; stemmed from; stemming from; arose from; thanks to",
    0.85: "in response to; in retaliation for; in protest against; triggered by; sparked by; prompted by; given that; "
    "bc; cuz; coz",
    0.65: "since",
}
_BEFORE = {
    0.95: "that is why; that 's why; this is why; which is why",
    0.9: "led to; leads to; leading to; lead to; resulted in; results in; resulting in; result in; gave rise to",
    0.85: "as a result; as a consequence; for this reason; for that reason; causing; caused; causes",
    0.8: "triggered; triggers; triggering; sparked; sparks; sparking; prompted; prompts; provoked; provokes",
    0.75: "therefore; hence; thus; consequently; and so; , so; accordingly",
}
_NOT_AFTER: Mapping[str, frozenset[str]] = {
    "caused": frozenset({"by"}),
    "causes": frozenset({"of", "for", "and", "behind"}),
    ", so": frozenset({"that", "far", "much", "many", "long", "called", "as", "was", "is", "are", "did", "does", "do"}),
    "because": frozenset({"of"}),
    "as a result": frozenset({"of"}),
    "as a consequence": frozenset({"of"}),
}
"""Words that follow a phrase which is then no cue."""
_AFTER = frozenset({"after", "when", "once", "as"})
"""Conjunctions that are cues if a failure follows."""
_AFTER_CERTAINTY = 0.6
_FAILING = (
    "fail", "crash", "broke", "break", "died", "timed", "corrupt", "leak", "expire", "collapse", "full", "error",
    "outage", "wrong", "stop", "slow", "problem", "incident", "fault", "damag", "fill", "could", "down", "lost",
)  # fmt: skip
"""Prefixes of words that report a failure."""
_QUOTES = frozenset("\"'“”‘’`")
_NEGATIONS = frozenset({"not", "n't", "n’t", "never"})
_ABLE = frozenset({"can", "ca", "could", "able", "wo"})
_NOW = frozenset("do does is are am has have".split())
"""Verbs before *not* that negate the present; in the past (*did not*) the cause may be negated instead."""
_HEDGES = frozenset(
    "might may could maybe perhaps possibly probably likely seems seem seemed apparently suspect".split()
)
_NOUNS_TOO = frozenset("results leads causes triggers sparks prompts result lead".split())
_BEFORE_NOUN = frozenset({"DET", "ADJ", "ADP", "NUM"})
_WAYS = frozenset(
    "road roads path paths way street lane door doors gate corridor hall stairs staircase steps passage tunnel bridge "
    "track trail route link page button he she they i we you it".split()
)
"""Subjects that lead somewhere without causing anything."""
_THAT = frozenset({"that", "which"})
_LEADING = frozenset({"lead", "leads", "led", "leading"})
_TIMES = frozenset(
    "year years month months week weeks weekend day morning noon evening night spring summer autumn winter christmas "
    "easter yesterday then last early late childhood birth".split()
) | {word for name in ("months", "weekdays") for word in language("en").tables[name]}
_HAVING = frozenset({"has", "have", "'ve", "’ve", "been"})
_DOUBTED = 0.5
"""Maximum certainty of a cause that the sentence calls merely possible."""


def _table() -> dict[str, list[tuple[tuple[str, ...], CauseSide, float]]]:
    table: dict[str, list[tuple[tuple[str, ...], CauseSide, float]]] = {}
    for side, cues in ((CauseSide.BEHIND, _BEHIND), (CauseSide.BEFORE, _BEFORE)):
        for certainty, phrases in cues.items():
            for phrase in phrases.split("; "):
                words = tuple(phrase.split())
                table.setdefault(words[0], []).append((words, side, certainty))
    for cues_of_word in table.values():
        cues_of_word.sort(key=lambda cue: -len(cue[0]))  # the longest that fits
    return table


_CUES = _table()


def cue_in(words: Sequence[Word]) -> Cue | None:
    """Return the most certain cue of a sentence, the first of equal ones; None in a question."""
    if any(word.text.startswith("?") for word in words[-2:]):
        return None
    lower = [word.lower.replace("’", "'") for word in words]
    return max(_cues(words, lower), key=lambda cue: cue.certainty, default=None)


def certainty_of(words: Sequence[Word], certainty: float) -> float:
    """Return the certainty of a cue in its sentence: hedges (``may``, ``perhaps``) limit it to ``_DOUBTED``."""
    doubtful = any(
        word.lower in _HEDGES
        and word.tag != "PROPN"
        and not (word.lower == "could" and any(behind.lower in _NEGATIONS for behind in words[at + 1 : at + 2]))
        for at, word in enumerate(words)
    )
    return min(certainty, _DOUBTED) if doubtful else certainty


def reports_failure(words: Sequence[Word]) -> bool:
    """Return whether words report a failure or a negation."""
    return any(word.lower.startswith(_FAILING) or word.lower in _NEGATIONS | {"nobody", "no"} for word in words)


def _cues(words: Sequence[Word], lower: Sequence[str]) -> Iterator[Cue]:
    for position, word in enumerate(lower):
        fronted = all(before.tag == "CCONJ" for before in words[:position])
        for phrase, side, certainty in _CUES.get(word, ()):
            end = position + len(phrase)
            if tuple(lower[position:end]) == phrase:
                if lower[end : end + 1] and lower[end] in _NOT_AFTER.get(" ".join(phrase), ()):
                    continue
                if _is_sound(words, position, end):
                    name = "-".join(word for word in phrase if word != ",")
                    first = _verb_start(words, position) if phrase[-1] == "by" else position
                    yield Cue(first, end - 1, side, certainty, fronted, name)
                break
        if (
            word in _AFTER
            and words[position].tag in {"SCONJ", "ADP", "ADV"}
            and _failure_follows(words, lower, position)
        ):
            yield Cue(position, position, CauseSide.BEHIND, _AFTER_CERTAINTY, fronted, word)
    if lower[:1] == ["so"] and len(lower) > 3 and lower[1] not in _NOT_AFTER[", so"]:
        yield Cue(0, 0, CauseSide.BEFORE, 0.7, fronted=True, rule="so")


def _failure_follows(words: Sequence[Word], lower: Sequence[str], position: int) -> bool:
    """Return whether a failure follows a conjunction, up to the next comma."""
    comma = lower.index(",", position) if "," in lower[position:] else len(lower)
    return any(words[at].tag in {"VERB", "ADJ"} and lower[at].startswith(_FAILING) for at in range(position + 1, comma))


def _verb_start(words: Sequence[Word], participle: int) -> int:
    """Return where the verb of a passive begins: ``might have been caused by``."""
    first = participle
    while first > 1 and words[first - 1].tag in {"AUX", "ADV"}:
        first -= 1
    return first


def _is_sound(words: Sequence[Word], first: int, end: int) -> bool:
    """Return whether the words of a cue, ``[first, end)``, can join a cause and an effect in this position."""
    word = words[first]
    quoted = 0 < first < end < len(words) and words[first - 1].text in _QUOTES and words[end].text in _QUOTES
    noun = word.lower in _NOUNS_TOO and word.tag == "NOUN" and (first == 0 or words[first - 1].tag in _BEFORE_NOUN)
    if quoted or noun:
        return False  # "the results in the table"
    if end < len(words) and words[end - 1].lower in {"of", "to"} and words[end].tag == "AUX":
        return False  # the phrase itself is the subject: "because of is …"
    if first > 0 and words[first - 1].lower in {"so", "just", "only", "simply", "merely"} and word.lower != ",":
        return False  # "I think so because …", "just because you can": the effect is elsewhere or missing
    if word.lower == "since" and _is_time(words, first):
        return False
    leads = word.lower in _LEADING and _is_way(words, first, end)
    return not leads and not _is_denied(words, first)


def _is_time(words: Sequence[Word], position: int) -> bool:
    """Return whether ``since`` is temporal: it is no conjunction, a date follows, or a tense is perfect."""
    behind = words[position + 1 : position + 3]
    dated = not behind or behind[0].tag == "NUM" or any(word.lower in _TIMES for word in behind)
    return words[position].tag != "SCONJ" or dated or any(word.lower in _HAVING for word in words)


def _is_way(words: Sequence[Word], first: int, end: int) -> bool:
    """Return whether ``lead`` is meant spatially: its subject is one of _WAYS, or it leads to a name."""
    before = [word for word in words[:first] if word.tag in {"NOUN", "ADJ", "PRON"} and word.lower not in _THAT]
    return words[end].tag == "PROPN" if not before and end < len(words) else bool(before) and before[-1].lower in _WAYS


def _is_denied(words: Sequence[Word], first: int) -> bool:
    """Return whether a cue is negated, or may be: ``did not break because …`` is ambiguous.

    No: if a comma precedes the cue, if an agent could not act, or if something does not work.
    """
    start = max((at + 1 for at in range(first) if words[at].text in {",", ";"}), default=0)
    before = [word.lower for word in words[start:first]]
    denied = next((at for at in range(len(before) - 1, -1, -1) if before[at] in _NEGATIONS), None)
    if denied is None or not _ABLE.isdisjoint(before):
        return False
    instead = any(word.lower == "but" for word in words[first:])
    works = denied < len(before) - 1 and not any(word.startswith(_FAILING) for word in before[denied + 1 :])
    return instead or not works or denied == 0 or before[denied - 1] not in _NOW
