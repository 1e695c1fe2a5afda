"""Words that say outright that one thing caused another, and on which side of them the cause stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from vicw_ingest.extraction.rules.soundness import certainty_of, is_question, is_sound, is_time
from vicw_shared.language.analysis import Sentence, Word


class Side(Enum):
    """Where the cause stands."""

    BEHIND = auto()
    BEFORE = auto()


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue in a sentence: the places of its words, and how certain it makes a cause (0 to 1).

    ``fronted``: nothing that it could join stands before it in the sentence. ``whole``: all before it is the one, all
    behind it the other.
    """

    first: int
    last: int
    side: Side
    certainty: float
    fronted: bool
    whole: bool = False


_BEHIND = {
    0.95: "because; because of; due to; owing to; as a result of; as a consequence of; caused by; on account of; bc; cuz; coz",
    0.9: "resulted from; results from; resulting from; stems from; stemmed from; stemming from; arose from; thanks to",
    0.85: "in response to; in retaliation for; in protest against; triggered by; sparked by; prompted by; given that",
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
"""Words that make something else of a cue if they follow it."""


JOINING_CLAUSES = frozenset("so why hence thus therefore consequently accordingly because since".split())
"""Last words of cues that stand between clauses, not between the names of things."""
_CALLED = frozenset({"cause", "reason", "culprit"})
_CALLED_SO = frozenset({"root", "the", "main", "real", "underlying", "only", "actual"})
_COPULAS = frozenset({"is", "was", "are", "were", "'s"})
_MENDING = frozenset(
    "fix fixes fixed resolve resolves resolved solve solves solved prevent prevents prevented repair repaired avoid "
    "avoids avoided mend mended".split()
)
_FAILING = ("fail", "crash", "broke", "break", "died", "timed", "corrupt", "leak", "expire", "collapse", "full")
"""How words begin that tell of a failure."""


def _table() -> dict[str, list[tuple[tuple[str, ...], Side, float]]]:
    table: dict[str, list[tuple[tuple[str, ...], Side, float]]] = {}
    for side, cues in ((Side.BEHIND, _BEHIND), (Side.BEFORE, _BEFORE)):
        for certainty, phrases in cues.items():
            for phrase in phrases.split("; "):
                words = tuple(phrase.split())
                table.setdefault(words[0], []).append((words, side, certainty))
    for cues_of_word in table.values():
        cues_of_word.sort(key=lambda cue: -len(cue[0]))  # the longest that fits
    return table


_CUES = _table()


def cue_in(sentence: Sentence) -> Cue | None:
    """Return the most certain cue of a sentence, the first of several."""
    words = sentence.words
    lower = [word.lower.replace("’", "'") for word in words]
    if is_question(words):
        return None
    best = max([*_phrases(words, lower), *_structures(words, lower)], key=lambda cue: cue.certainty, default=None)
    return replace(best, certainty=certainty_of(words, best.certainty)) if best is not None else None


def named_cause(sentence: Sentence) -> tuple[range | None, range] | None:
    """Return the words of effect and cause where a cause is called one: ``the root cause of the crash was …``.

    The effect is None where it was told before: ``the reason is …``.
    """
    lower = [word.lower for word in sentence.words]
    end = len(lower) - (sentence.words[-1].tag == "PUNCT")
    for place, word in enumerate(lower):
        if word not in _CALLED or lower[max(place - 1, 0)] not in _CALLED_SO:
            continue
        verb = next((at for at in range(place + 1, end) if lower[at] in _COPULAS), None)
        if verb is None or verb + 1 >= end or "," in lower[place:verb]:
            continue
        if lower[place + 1] in {"of", "for", "behind"} and verb > place + 2:
            return range(place + 2, verb), range(verb + 1, end)
        if verb == place + 1:
            return None, range(verb + 1, end)
    return None


def _phrases(words: Sequence[Word], lower: Sequence[str]) -> Iterator[Cue]:
    """Yield the cues of the table."""
    for place, word in enumerate(lower):
        for phrase, side, certainty in _CUES.get(word, ()):
            end = place + len(phrase)
            if tuple(lower[place:end]) == phrase:
                if lower[end : end + 1] and lower[end] in _NOT_AFTER.get(" ".join(phrase), ()):
                    continue
                if not is_sound(words, place, end):
                    break
                yield Cue(place, end - 1, side, certainty, not any(w.tag != "CCONJ" for w in words[:place]))
                break
    if lower[:1] == ["so"] and len(lower) > 3 and lower[1] not in _NOT_AFTER[", so"]:
        yield Cue(0, 0, Side.BEFORE, 0.7, fronted=True)


def _structures(words: Sequence[Word], lower: Sequence[str]) -> Iterator[Cue]:
    """Yield the words that are cues in some places: by the clause that they begin, or by the verb that they follow."""
    for place, word in enumerate(lower):
        begins_clause = words[place].relation == "mark" and words[place].tag in {"SCONJ", "ADP"}
        if word == "since" and begins_clause and not is_time(words, place):
            yield Cue(place, place, Side.BEHIND, 0.65, place == 0)
        elif word in {"after", "when", "once", "as"} and _fails(words, lower, place):
            yield Cue(place, place, Side.BEHIND, 0.6, place == 0)
        elif word == "by" and "".join(lower[place + 1 : place + 2]).endswith("ing") and _MENDING & {*lower[:place]}:
            yield Cue(place, place, Side.BEHIND, 0.75, fronted=False, whole=True)


def _fails(words: Sequence[Word], lower: Sequence[str], place: int) -> bool:
    """Tell whether a conjunction is followed by something that failed, up to the next comma."""
    comma = lower.index(",", place) if "," in lower[place:] else len(lower)
    return any(words[at].tag in {"VERB", "ADJ"} and lower[at].startswith(_FAILING) for at in range(place + 1, comma))
