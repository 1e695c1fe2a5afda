"""Words that say outright that one thing caused another, and on which side of them the cause stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from vicw_ingest.extraction.rules.soundness import certainty_of, is_question, is_sound, is_time, phrase_start
from vicw_shared.language.analysis import Sentence, Word


class Side(Enum):
    """Where the cause stands."""

    BEHIND = auto()
    BEFORE = auto()


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue in a sentence: the places of its words, and how certain it makes a cause (0 to 1).

    ``fronted``: nothing that it could join stands before it in the sentence. ``whole``: all before it is the one, all
    behind it the other, of the words ``[begin, end)`` of the sentence (``end`` None: up to its last); none outside of
    them are of either. ``rule``: what the cue is called (``as-a-result-of``); empty: as its words are.
    """

    first: int
    last: int
    side: Side
    certainty: float
    fronted: bool
    whole: bool = False
    begin: int = 0
    end: int | None = None
    rule: str = ""


_BEHIND = {
    0.95: "because; because of; due to; owing to; as a result of; as a consequence of; caused by; on account of",
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


_SPOKEN = frozenset({"bc", "cuz", "coz", "'cause", "cause"})
_NOMINATIVES = frozenset("i he she we they there".split())
_BEFORE_VERB = frozenset({"AUX", "PART", "NOUN", "PROPN", "PRON", "DET", "ADJ"})
_BEGINS_SUBJECT = frozenset({"DET", "PRON", "PROPN"})
_MAKING = frozenset({"made", "makes"})
_ENDING_CLAUSE = frozenset({"PUNCT", "SCONJ", "CCONJ", "ADP"})
_OF_NOUN = frozenset({"DET", "ADJ", "NOUN", "PROPN", "NUM"})
_COMPARATIVES = frozenset(
    "faster slower worse better bigger smaller larger easier harder cheaper safer weaker stronger longer shorter "
    "warmer colder hotter louder quieter brighter darker richer poorer higher lower simpler happier cleaner "
    "quicker".split()
)


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
    if best is None:
        return None
    return _within(words, _of_relative(words, replace(best, certainty=certainty_of(words, best.certainty))))


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
                fronted = not any(w.tag != "CCONJ" for w in words[:place])
                name = "-".join(word for word in phrase if word != ",")
                first = _verb_start(words, place) if phrase[-1] == "by" else place
                yield Cue(first, end - 1, side, certainty, fronted, rule=name)
                break
    if lower[:1] == ["so"] and len(lower) > 3 and lower[1] not in _NOT_AFTER[", so"]:
        yield Cue(0, 0, Side.BEFORE, 0.7, fronted=True)


def _verb_start(words: Sequence[Word], participle: int) -> int:
    """Return where the verb of a passive begins: ``might have been caused by``."""
    first = participle
    while first > 1 and words[first - 1].tag in {"AUX", "ADV"}:
        first -= 1
    return first


def _structures(words: Sequence[Word], lower: Sequence[str]) -> Iterator[Cue]:
    """Yield the words that are cues in some places: by the clause that they begin, or by the verb that they follow."""
    for place, word in enumerate(lower):
        begins_clause = words[place].relation == "mark" and words[place].tag in {"SCONJ", "ADP"}
        if word == "since" and begins_clause and not is_time(words, place):
            yield Cue(place, place, Side.BEHIND, 0.65, place == 0)
        elif word in {"after", "when", "once", "as"} and _fails(words, lower, place):
            yield Cue(place, place, Side.BEHIND, 0.6, place == 0)
        elif word in _SPOKEN and _begins_reason(words, lower, place):
            comma = place > 1 and not words[place - 1].text[0].isalnum()
            yield Cue(place - comma, place, Side.BEHIND, 0.85, place == 0, whole=place > 0)
        elif word in _MAKING and (cue := _made(words, lower, place)) is not None:
            yield cue
        elif word == "by" and "".join(lower[place + 1 : place + 2]).endswith("ing") and _MENDING & {*lower[:place]}:
            yield Cue(place, place, Side.BEHIND, 0.75, fronted=False, whole=True)


def _begins_reason(words: Sequence[Word], lower: Sequence[str], place: int) -> bool:
    """Tell whether what may be a short *because* begins a clause."""
    if place + 2 >= len(words) or place == 0:
        return False
    if lower[place] != "cause" or words[place].tag == "SCONJ":
        return True
    if lower[place - 1] == "," and words[place + 1].tag in _BEGINS_SUBJECT:
        stop = next((at for at in range(place, len(words)) if words[at].tag in {"PUNCT", "CCONJ"}), len(words))
        return any(word.tag in {"AUX", "VERB"} for word in words[place + 2 : stop])
    return lower[place + 1] in _NOMINATIVES and words[place - 1].tag not in _BEFORE_VERB


def _made(words: Sequence[Word], lower: Sequence[str], place: int) -> Cue | None:
    """Return the cue of ``X made Y fail``, ``X made Y faster``: what was made is said to be or to do something."""
    ends = (at for at in range(place + 1, len(words)) if words[at].tag in _ENDING_CLAUSE or words[at].tag == "AUX")
    stop = next(ends, len(words))
    if lower[place + 1 : place + 2] == ["it"] and lower[stop : stop + 1] != ["."] and stop < len(words):
        return None  # "made it clear that …"
    if place == 0 or stop < place + 3 or lower[place - 1] in {"to", "was", "is", "were", "are", "be", "been"}:
        return None
    last = next((at for at in range(stop - 1, place + 1, -1) if words[at].tag != "ADV"), place + 1)
    like = words[last].tag in {"ADJ", "VERB"} or lower[last] in _COMPARATIVES or lower[last].startswith(_FAILING)
    if last < place + 2 or not like or words[last - 1].tag not in {"NOUN", "PROPN", "PRON", "VERB", "ADV", "ADJ"}:
        return None
    if lower[place - 1] in {"which", "that"} and place > 2 and words[place - 2].text == ",":
        return Cue(place - 2, place, Side.BEFORE, 0.8, fronted=False, whole=True, end=stop, rule="made")
    begin = phrase_start(words, place)
    return (
        Cue(place, place, Side.BEFORE, 0.8, fronted=False, whole=True, begin=begin, end=stop, rule="made")
        if begin < place
        else None
    )


def is_answer(sentence: Sentence, cue: Cue) -> bool:
    """Tell whether a sentence is a reason alone, of what was said or asked before: ``Because the disk was full.``"""
    words = sentence.words
    if not cue.fronted or cue.side is Side.BEFORE or any(word.text in {",", ";"} for word in words[cue.last + 1 :]):
        return False
    head = words[cue.last].head
    if words[cue.last].tag == "SCONJ":
        return (head < 0 or words[head].head < 0) and not _has_two_clauses(words)
    return not any(word.tag in {"VERB", "AUX"} for word in words[cue.last + 1 :])


def _has_two_clauses(words: Sequence[Word]) -> bool:
    """Tell whether a second subject or clause hangs on the root, which need no comma: *Because he lied she left*."""
    root = next((place for place, word in enumerate(words) if word.head < 0), 0)
    return sum(word.head == root and word.relation in {"nsubj", "ccomp", "parataxis"} for word in words) > 1


def _of_relative(words: Sequence[Word], cue: Cue) -> Cue:
    """Return a verb's cue in a relative clause as one that joins its noun, not the main clause, to what follows."""
    at, verb = cue.first - 1, words[cue.first]
    if cue.side is Side.BEHIND or verb.tag != "VERB" or at < 1 or words[at].lower not in {"that", "which", "who"}:
        return cue
    if words[at - 1].tag == "PUNCT":
        return cue
    start = at - 1
    while start > 0 and words[start - 1].tag in _OF_NOUN:
        start -= 1
    behind = range(cue.last + 1, len(words))
    end = next((place for place in behind if words[place].tag in _ENDING_CLAUSE or _is_main(words, place)), len(words))
    return replace(cue, first=at, whole=True, begin=start, end=end) if end > cue.last + 1 else cue


def _is_main(words: Sequence[Word], place: int) -> bool:
    return words[place].tag in {"AUX", "VERB"} and (words[place].head < 0 or words[words[place].head].head < 0)


def _within(words: Sequence[Word], cue: Cue) -> Cue:
    """Return a cue that joins nothing across a semicolon, but for the one that it follows."""
    marks = [at for at, word in enumerate(words) if word.text == ";"]
    begin = max((at + 1 for at in marks if at < cue.first - 1), default=0)
    end = next((at for at in marks if at > cue.last), len(words))
    return replace(cue, begin=max(begin, cue.begin), end=min(end, len(words) if cue.end is None else cue.end))


def _fails(words: Sequence[Word], lower: Sequence[str], place: int) -> bool:
    """Tell whether a conjunction is followed by something that failed, up to the next comma."""
    comma = lower.index(",", place) if "," in lower[place:] else len(lower)
    return any(words[at].tag in {"VERB", "ADJ"} and lower[at].startswith(_FAILING) for at in range(place + 1, comma))
