"""Detect lines that contradict their source, or add to it. Compares words, sentence by sentence.

Omissions are harmless, since the summary states them elsewhere. A reversed statement would be archived under the
speaker's name. Words reveal a lost or added negation, a cause turned into the effect, *failed* where the source has
*passed*, and a question, guess or hearsay turned into a statement; they do not reveal a false statement in other words.
A false alarm costs only brevity: the source's own sentences replace the line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from itertools import chain, permutations
from typing import NamedTuple

from vicw_core.index import sparse
from vicw_shared.text import fold_case
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary.check import invented, sentences_in
from vicw_sleep.consolidation.summary.facts import NOT, FactKind

_STOP_WORDS = frozenset(
    sparse.stems(
        "a an the this that these those i you he she it we they me him her us them my your his its our their am is are "
        "was were be been being have has had having will would shall should can could may might must to of in on at by "
        "for with from and or but so if as than then there here just very really also too not no never nobody nothing "
        "none nowhere neither nor without cannot longer t s d m ll re ve don doesn didn isn aren wasn weren won wouldn "
        "shouldn couldn can hasn haven hadn mustn ain dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt "
        "cant hasnt havent hadnt aint hardly scarcely because since due thus hence therefore"
    )
)
"""Stop words, which do not indicate a sentence's topic."""
_CLAUSE = re.compile(r"[.?!;,:]|\b(?:but|because|since|so|although|though|and then)\b", re.IGNORECASE)
_EFFECT_FIRST = re.compile(
    r"\b(?:because(?: of)?|since|due to|thanks to|owing to|caused by|as a result of)\b", re.IGNORECASE
)
_CAUSE_FIRST = re.compile(
    r"\b(?:therefore|thus|hence|led to|leads to|caus(?:es|ed|ing)|as a result|so that|that is why|that's why)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\?|\b(?:ask|wonder|whether|question|inquir|curious|want(?:s|ed)? to know)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\bmay\b|(?i:\b(?:if|unless|whether|might|maybe|perhaps|possibl[ey]|probably|would|could|should|hop(?:e[sd]?|ing)"
    r"|wish(?:es|ed)?|plan(?:s|ned|ning)?|think(?:s|ing)?|thought|believe[sd]?|guess(?:es|ed)?|suppose[sd]?|sa(?:y|ys|id)"
    r"|tells?|told|claim(?:s|ed)?|heard|apparently|allegedly|according)\b)"
)
"""A condition, a guess, a wish, or reported speech."""
_OPPOSITES = """pass fail; win lose; buy sell; open close; start stop; begin end; accept refuse; accept reject; approve
reject; approve deny; allow forbid; allow deny; love hate; like dislike; increase decrease; rise fall; raise lower;
enable disable; add remove; install uninstall; arrive leave; push pull; dead alive; hot cold; good bad; better worse;
best worst; early late; cheap expensive; succeed fail; success failure; confirm cancel; hire fire; borrow lend; borrow
lent; import export; upgrade downgrade; healthy sick; safe dangerous; safe unsafe; rich poor; friend enemy; more less;
before after; true false; agree disagree; connect disconnect; lock unlock; happy unhappy; happy
sad; married divorced; possible impossible; able unable; full empty; strong weak; fast slow; won lost; bought sold; rose
fell; began ended; up down; above below; first last; inside outside; left right; keep delete; keep discard; encrypt
decrypt; faster slower; larger smaller; higher lower; earlier later; correct wrong; correct incorrect; valid invalid;
known unknown; found lost; remember forget; remembered forgot; join leave; joined left; public private; agreed refused;
innocent guilty; well ill"""

_NO = re.compile(r"\W*(?:no|nope|nah)\s*[^\w\s]", re.IGNORECASE)
_DENYING = frozenset(
    sparse.stems(
        "true truth untrue false wrong fake mistaken lie lied lying liar deny denied refuse decline fail lack doubt "
        "hoax pretend impossible unlikely contrary opposite instead stop avoid forget absence nonsense"
    )
)
"""Words that negate their neighbours."""
_PERSONS = (
    re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE),
    re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE),
)
"""Pronouns of the speaker and of the person addressed."""
_CLOSING = " )]!\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
_MIN_SHARE = 0.5
"""Minimum share of a sentence's words that its source contains: a paraphrase adds some words, an invention adds more.
"""
_OPPOSITE_PAIRS = tuple((mine, its) for pair in _OPPOSITES.split(";") for mine, its in permutations(sparse.stems(pair)))


class _Clause(NamedTuple):
    """The stems of a clause without stop words, the negated ones, and the first stem after each negation."""

    words: frozenset[str]
    denied: frozenset[str]
    heads: frozenset[str]

    @property
    def affirmed(self) -> frozenset[str]:
        """The stems that the clause states without negation."""
        return self.words - self.denied


def unsupported_sentences(line: str, place: int, sources: Sequence[SourceEvent]) -> str:
    """Return why a sentence of one source's line is not supported by that source; empty: all are.

    At least half of a sentence's words have to be in its source, and no other source may contain more of them: that
    would attribute one speaker's words to another.
    """
    own, *others = (
        _words(f"{one.head} {one.called} {one.text}")
        for one in (sources[place], *sources[:place], *sources[place + 1 :])
    )
    for words in map(_words, sentences_in(line)):
        if len(words & own) < _MIN_SHARE * len(words):
            return "most of its words are not in its source"
        if any(len(words & other) > len(words & own) for other in others):
            return "another source says it"
    return ""


def contradiction(source: SourceEvent, line: str) -> str:
    """Return how a line contradicts its source, in words; empty: it does not."""
    if source.event.is_macro:
        return _misquotation(source, line)
    heads = [head for head in (source.event.speaker, source.event.title) if head]
    return next(
        filter(None, (_mismatch(sentence, source.text, heads, source.named) for sentence in sentences_in(line))), ""
    )


def _misquotation(macro: SourceEvent, line: str) -> str:
    """Compare a line with the line of the Macro-Event's summary that shares most words: each has its own speaker."""
    units = [(_speaker_of(unit), unit) for unit in macro.text.split("\n")]
    heads = {head for head, _ in units if head}
    named = {*macro.named, *heads}
    speaker = ""
    for sentence in sentences_in(line):
        shared = [len(_words(sentence) & _words(unit)) for _, unit in units]
        closest = [unit for unit, words in zip(units, shared, strict=True) if words == max(shared)]
        mismatches = [_mismatch(sentence, unit, [], named) for _, unit in closest]
        if all(mismatches):
            return mismatches[0]
        speaker = _speaker_of(sentence) if _speaker_of(sentence) in heads else speaker
        if len(heads) > 1 and not any(head == speaker or fold_case(head) in fold_case(sentence) for head, _ in closest):
            return "it names no speaker"
    return ""


def _speaker_of(line: str) -> str:
    """Return the speaker of a summary line, without the title in brackets; empty: the line names none."""
    head, colon, _ = line.partition(": ")
    return head.partition(" (")[0] if colon else ""


def _mismatch(sentence: str, unit: str, heads: Sequence[str], named: Collection[str]) -> str:
    for added in invented(sentence, "\n".join([unit, *heads]), named):
        if added.kind is not FactKind.NEGATION:  # compared below
            return f"it states the {added.kind} {added.key!r}, which its source lacks"
    return (
        _negation_mismatch(sentence, unit)
        or _person_mismatch(sentence, unit)
        or _opposite_words(_words(sentence), _words(unit))
        or _reversed_causes(sentence, unit)
        or _assertion(sentence, unit)
    )


def _negation_mismatch(sentence: str, unit: str) -> str:
    source_sentences = sentences_in(unit)
    source_clauses = [clause for source_sentence in source_sentences for clause in _clauses(source_sentence)]
    begins_with_no = _NO.match(sentence) and not any(map(_NO.match, source_sentences))
    if begins_with_no or len(NOT.findall(sentence)) > len(NOT.findall(unit)):
        return "it denies what its source does not"
    return next(filter(None, (_denial(clause, source_clauses) for clause in _clauses(sentence))), "")


def _person_mismatch(sentence: str, unit: str) -> str:
    wrong = any(person.search(sentence) and not person.search(unit) for person in _PERSONS)
    return "it names another person" if wrong else ""


def _reversed_causes(sentence: str, unit: str) -> str:
    is_reversed = any(_is_reversed(sentence, source_sentence) for source_sentence in sentences_in(unit))
    return "it reverses cause and effect" if is_reversed else ""


def _opposite_words(mine: Set[str], its: Set[str]) -> str:
    for word, opposite in _OPPOSITE_PAIRS:
        if word in mine - its and opposite in its - mine:
            return f"it says {word!r} where its source says {opposite!r}"
    return next((f"it says {word!r}, which its source does not" for word in sorted(mine & _DENYING - its)), "")


def _assertion(sentence: str, unit: str) -> str:
    """Compare a sentence with the source's sentences that share most of its words: it may not state what they ask or
    leave open.
    """
    mine = _words(sentence)
    shared_words = {source_sentence: len(mine & _words(source_sentence)) for source_sentence in sentences_in(unit)}
    closest = [
        source_sentence
        for source_sentence, shared in shared_words.items()
        if shared and shared == max(shared_words.values())
    ]
    if not closest:
        return ""
    if (
        all(source_sentence.rstrip(_CLOSING).endswith("?") for source_sentence in closest)
        and _QUESTION.search(sentence) is None
    ):
        return "it states what its source asks"
    if all(map(_UNSURE.search, closest)) and _UNSURE.search(sentence) is None and _QUESTION.search(sentence) is None:
        return "it states for certain what its source does not"
    return ""


def _denial(clause: _Clause, source_clauses: Sequence[_Clause]) -> str:
    """Compare the negations of a clause with those of the source's clauses that share most of its words."""
    max_shared = max((len(clause.words & one.words) for one in source_clauses), default=0)
    closest = [one for one in source_clauses if max_shared and len(clause.words & one.words) == max_shared]
    if closest and all(one.words & _DENYING for one in closest) and not clause.words & _DENYING:
        return "it does not deny what its source denies"
    if not clause.denied:
        return "it does not deny what its source denies" if any(clause.words & one.denied for one in closest) else ""
    affirmed = frozenset().union(*(one.affirmed for one in source_clauses))
    denied = frozenset().union(*(one.denied for one in source_clauses))
    # A new word may rephrase what is denied, but no word that the source affirms.
    another_form = any(one.denied and not clause.denied & one.affirmed for one in closest)
    if clause.heads & affirmed - denied or not another_form:
        return "it denies what its source does not"
    return ""


def _clauses(sentence: str) -> list[_Clause]:
    clauses = []
    for part in _CLAUSE.split(sentence):
        denied = [_stems(part[match.end() :]) for match in NOT.finditer(part)]
        heads = frozenset(stems[0] for stems in denied if stems)
        clauses.append(_Clause(_words(part), frozenset(chain.from_iterable(denied)), heads))
    return [clause for clause in clauses if clause.words]


def _stems(text: str) -> list[str]:
    return [stem for stem in sparse.stems(text) if stem not in _STOP_WORDS]


def _words(text: str) -> frozenset[str]:
    return frozenset(_stems(text))


def _is_reversed(mine: str, its: str) -> bool:
    """Return whether two causal sentences have cause and effect the other way round."""
    own_causality, source_causality = _cause_and_effect(mine), _cause_and_effect(its)
    if own_causality is None or source_causality is None:
        return False
    (cause, effect), (its_cause, its_effect) = own_causality, source_causality
    return len(cause & its_effect) + len(effect & its_cause) > len(cause & its_cause) + len(effect & its_effect)


def _cause_and_effect(sentence: str) -> tuple[frozenset[str], frozenset[str]] | None:
    if match := _EFFECT_FIRST.search(sentence):
        before, behind = _words(sentence[: match.start()]), _words(sentence[match.end() :])
        if before:
            return behind, before
        cause, _, effect = sentence[match.end() :].partition(",")  # "Because of the rain, we stayed."
        return _words(cause), _words(effect)
    if match := _CAUSE_FIRST.search(sentence):
        return _words(sentence[: match.start()]), _words(sentence[match.end() :])
    return None
