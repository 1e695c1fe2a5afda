"""Whether a line says what its source does not, or turns it round: told by words, sentence by sentence.

What a line leaves out costs nothing, since that is told beside it. What it turns round would stand in the archive as
somebody's words. Words tell of a denial that is gone or new, of a cause that became the effect, of *failed* where the
source has *passed*, of a statement that was a question, a guess or hearsay; a lie in other words they do not. A line
that is doubted for nothing costs no more than its brevity: the source's own sentences take its place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from itertools import chain, permutations
from typing import NamedTuple

from vicw_shared import sparse
from vicw_shared.text import fold_case
from vicw_sleep.consolidation.facts import NOT, FactKind
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary_check import invented, said_in

_EMPTY = frozenset(
    sparse.stems(
        "a an the this that these those i you he she it we they me him her us them my your his its our their am is are "
        "was were be been being have has had having will would shall should can could may might must to of in on at by "
        "for with from and or but so if as than then there here just very really also too not no never nobody nothing "
        "none nowhere neither nor without cannot longer t s d m ll re ve don doesn didn isn aren wasn weren won wouldn "
        "shouldn couldn can hasn haven hadn mustn ain dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt "
        "cant hasnt havent hadnt aint hardly scarcely because since due thus hence therefore"
    )
)
"""Words that say nothing of what a sentence is about."""
_CLAUSE = re.compile(r"[.?!;,:]|\b(?:but|because|since|so|although|though|and then)\b", re.IGNORECASE)
_BACK = re.compile(r"\b(?:because(?: of)?|since|due to|thanks to|owing to|caused by|as a result of)\b", re.IGNORECASE)
_ON = re.compile(
    r"\b(?:therefore|thus|hence|led to|leads to|caus(?:es|ed|ing)|as a result|so that|that is why|that's why)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(r"\?|\b(?:ask|wonder|whether|question|inquir|curious|want(?:s|ed)? to know)", re.IGNORECASE)
_UNSURE = re.compile(
    r"\bmay\b|(?i:\b(?:if|unless|whether|might|maybe|perhaps|possibl[ey]|probably|would|could|should|hop(?:e[sd]?|ing)"
    r"|wish(?:es|ed)?|plan(?:s|ned|ning)?|think(?:s|ing)?|thought|believe[sd]?|guess(?:es|ed)?|suppose[sd]?|sa(?:y|ys|id)"
    r"|tells?|told|claim(?:s|ed)?|heard|apparently|allegedly|according)\b)"
)
"""A condition, a guess, a wish, or what somebody else says."""
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
"""Words that deny what stands beside them."""
_PERSONS = (
    re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE),
    re.compile(r"\b(?:you|your|yours|yourself|u|ur)\b", re.IGNORECASE),
)
"""Who speaks, and who is spoken to."""
_CLOSING = " )]!\"'\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
_OWN = 0.5
"""Share of the words of a sentence that its source has, at least: a paraphrase has some of its own, a sermon more."""
_OPPOSITE = tuple((mine, its) for pair in _OPPOSITES.split(";") for mine, its in permutations(sparse.stems(pair)))


class _Clause(NamedTuple):
    """Its words but the empty ones, those that it denies, and the first of these after each negation, as stems."""

    words: frozenset[str]
    denied: frozenset[str]
    heads: frozenset[str]

    @property
    def affirmed(self) -> frozenset[str]:
        """What it says and does not deny."""
        return self.words - self.denied


def unsupported_sentences(line: str, place: int, sources: Sequence[SourceEvent]) -> str:
    """Return why a sentence of the line of one source is not its own, in words; empty: all are.

    At least half of what it says has to be in its source's words, and no other source may have more of it: then
    somebody would be told to have said what another did.
    """
    own, *others = (
        _words(f"{one.head} {one.called} {one.text}")
        for one in (sources[place], *sources[:place], *sources[place + 1 :])
    )
    for said in map(_words, said_in(line)):
        if len(said & own) < _OWN * len(said):
            return "most of its words are not of its source"
        if any(len(said & theirs) > len(said & own) for theirs in others):
            return "another source says it"
    return ""


def contradiction(source: SourceEvent, line: str) -> str:
    """Return what a line of one source says otherwise than that does, in words; empty: nothing of the kind."""
    if source.event.is_macro:
        return _misquotation(source, line)
    heads = [head for head in (source.event.speaker, source.event.title) if head]
    return next(filter(None, (_doubt(said, source.text, heads, source.named) for said in said_in(line))), "")


def _misquotation(macro: SourceEvent, line: str) -> str:
    """Compare a line with that line of a Macro-Event's summary that has most of its words: each is somebody's."""
    units = [(_said_by(unit), unit) for unit in macro.text.split("\n")]
    heads = {head for head, _ in units if head}
    named = {*macro.named, *heads}
    speaker = ""
    for said in said_in(line):
        shared = [len(_words(said) & _words(unit)) for _, unit in units]
        closest = [unit for unit, words in zip(units, shared, strict=True) if words == max(shared)]
        doubts = [_doubt(said, unit, [], named) for _, unit in closest]
        if all(doubts):
            return doubts[0]
        speaker = _said_by(said) if _said_by(said) in heads else speaker
        if len(heads) > 1 and not any(head == speaker or fold_case(head) in fold_case(said) for head, _ in closest):
            return "it does not tell who says it"
    return ""


def _said_by(line: str) -> str:
    """Return who says a line of a summary, without what it is called; empty: it does not tell."""
    head, colon, _ = line.partition(": ")
    return head.partition(" (")[0] if colon else ""


def _doubt(said: str, unit: str, heads: Sequence[str], named: Collection[str]) -> str:
    for added in invented(said, "\n".join([unit, *heads]), named):
        if added.kind is not FactKind.NEGATION:  # judged below
            return f"it tells {added.kind} {added.key!r}, which its source does not"
    return (
        _denied(said, unit)
        or _spoken(said, unit)
        or _opposite(_words(said), _words(unit))
        or _reversed_causes(said, unit)
        or _assertion(said, unit)
    )


def _denied(said: str, unit: str) -> str:
    theirs = [clause for sentence in said_in(unit) for clause in _clauses(sentence)]
    said_no = _NO.match(said) and not any(map(_NO.match, said_in(unit)))
    if said_no or len(NOT.findall(said)) > len(NOT.findall(unit)):
        return "it denies what its source does not"
    return next(filter(None, (_denial(clause, theirs) for clause in _clauses(said))), "")


def _spoken(said: str, unit: str) -> str:
    wrong = any(person.search(said) and not person.search(unit) for person in _PERSONS)
    return "it names another person" if wrong else ""


def _reversed_causes(said: str, unit: str) -> str:
    turned = any(_turned(said, sentence) for sentence in said_in(unit))
    return "it takes the effect for the cause" if turned else ""


def _opposite(mine: Set[str], its: Set[str]) -> str:
    for one, other in _OPPOSITE:
        if one in mine - its and other in its - mine:
            return f"it says {one!r} where its source says {other!r}"
    return next((f"it says {word!r}, which its source does not" for word in sorted(mine & _DENYING - its)), "")


def _assertion(said: str, unit: str) -> str:
    """Compare a sentence with those of the source that have most of its words: what they ask, or leave open, it may
    not state.
    """
    mine = _words(said)
    theirs = {sentence: len(mine & _words(sentence)) for sentence in said_in(unit)}
    closest = [sentence for sentence, shared in theirs.items() if shared and shared == max(theirs.values())]
    if not closest:
        return ""
    if all(sentence.rstrip(_CLOSING).endswith("?") for sentence in closest) and _ASKING.search(said) is None:
        return "it states what its source asks"
    if all(map(_UNSURE.search, closest)) and _UNSURE.search(said) is None and _ASKING.search(said) is None:
        return "it states for certain what its source does not"
    return ""


def _denial(clause: _Clause, theirs: Sequence[_Clause]) -> str:
    """Compare a clause with those of the source that have most of its words."""
    most = max((len(clause.words & one.words) for one in theirs), default=0)
    closest = [one for one in theirs if most and len(clause.words & one.words) == most]
    if closest and all(one.words & _DENYING for one in closest) and not clause.words & _DENYING:
        return "it does not deny what its source denies"
    if not clause.denied:
        return "it does not deny what its source denies" if any(clause.words & one.denied for one in closest) else ""
    affirmed = frozenset().union(*(one.affirmed for one in theirs))
    denied = frozenset().union(*(one.denied for one in theirs))
    # A word of its own may say what is denied in another form, but none that the source says itself.
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
    return [stem for stem in sparse.stems(text) if stem not in _EMPTY]


def _words(text: str) -> frozenset[str]:
    return frozenset(_stems(text))


def _turned(mine: str, its: str) -> bool:
    """Tell whether two sentences that each name a cause have them the other way round."""
    here, there = _cause_and_effect(mine), _cause_and_effect(its)
    if here is None or there is None:
        return False
    (cause, effect), (its_cause, its_effect) = here, there
    return len(cause & its_effect) + len(effect & its_cause) > len(cause & its_cause) + len(effect & its_effect)


def _cause_and_effect(sentence: str) -> tuple[frozenset[str], frozenset[str]] | None:
    if match := _BACK.search(sentence):
        before, behind = _words(sentence[: match.start()]), _words(sentence[match.end() :])
        if before:
            return behind, before
        cause, _, effect = sentence[match.end() :].partition(",")  # "Because of the rain, we stayed."
        return _words(cause), _words(effect)
    if match := _ON.search(sentence):
        return _words(sentence[: match.start()]), _words(sentence[match.end() :])
    return None
