"""Whether two clauses of a text tell of one event: *the payment certificate had expired*, *the certificate expired*.

Rather two events than a wrong one: the same verb of the same noun, what describes the noun in one is in the other or
left out, nothing says that it happened another time, and of what was told before only one fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vicw_ingest.extraction.reading import Gist
from vicw_ingest.extraction.rules.clauses import Clause, Phrases
from vicw_shared.language.analysis import Sentence, Word
from vicw_shared.language.times import times_in
from vicw_shared.language.tokens import Span

_DESCRIBING = frozenset({"compound", "amod", "nmod", "nummod", "appos", "flat", "nmod:poss", "acl", "acl:relcl"})
_INDEFINITE = frozenset("a an another each every any no some other second next new".split())
_ANEW = frozenset("again twice thrice once always never often sometimes repeatedly still almost nearly".split())
_NOT_SO = frozenset("would could should might may can must will 'll ’ll shall if unless whether".split())
_NOUNS = frozenset({"NOUN", "PROPN"})


@dataclass(frozen=True, slots=True)
class Event:
    """What a clause tells of: a noun and its verb, what describes the noun, what the verb is done to, and when."""

    noun: str
    verb: str
    passive: bool
    object: str | None
    described: frozenset[str]
    at: datetime | None

    def is_told_by(self, other: Event) -> bool:
        """Tell whether a clause that comes later may tell of the same."""
        same = (self.noun, self.verb, self.passive, self.object)
        if same != (other.noun, other.verb, other.passive, other.object):
            return False
        return self.nests(other) and other.at in {None, self.at}

    def gist(self) -> Gist:
        """Return by what another item's text is known to tell of the same."""
        parts = (self.noun, self.verb, "passive" if self.passive else "", self.object or "")
        return Gist(" ".join(filter(None, parts)), self.described, self.at)

    def nests(self, other: Event) -> bool:
        """Tell whether one describes the noun as the other does, or less."""
        return self.described <= other.described or other.described <= self.described


def told_again(event: Event, before: Sequence[tuple[str, Event]]) -> str | None:
    """Return the key of the one event before that a later clause tells of; None if there is none, or several."""
    fitting = [(key, told) for key, told in before if told.is_told_by(event)]
    one = all(told.nests(other) for _, told in fitting for _, other in fitting)
    return fitting[-1][0] if fitting and one else None


def event_in(sentence: Sentence, text: str, at: datetime, span: Span | None = None) -> Event | None:
    """Return the event of a stretch of a sentence; without one, of the sentence's only clause.

    ``text`` is the one that spans count in, ``at`` the moment from which its relative dates are reckoned.
    """
    words, phrases = sentence.words, Phrases(sentence)
    where = span if span is not None else sentence.span
    inside = range(len(words)) if span is None else _inside(words, span)
    clauses = [clause for clause in phrases.clauses() if clause.verb in inside and words[clause.verb].tag == "VERB"]
    if len(clauses) != 1 or words[-1].text == "?":
        return None
    event = _event(words, clauses[0], inside)
    time = next(times_in(text[where.start : where.end], at), None)
    if event is None or time is None:
        return event
    return Event(event.noun, event.verb, event.passive, event.object, event.described, time.at)


def _inside(words: Sequence[Word], span: Span) -> range:
    places = [at for at, word in enumerate(words) if span.start <= word.start and word.end <= span.end]
    return range(places[0], places[-1] + 1) if places else range(0)


def _event(words: Sequence[Word], clause: Clause, inside: range) -> Event | None:
    noun = clause.subject
    if noun is None or noun not in inside or words[noun].tag not in _NOUNS or clause.negated:
        return None
    below = [at for at in inside if words[at].head == noun and at < noun]
    said = {words[at].lower for at in inside}
    if said & (_ANEW | _NOT_SO) or any(words[at].lower in _INDEFINITE for at in below):
        return None
    described = frozenset(words[at].lower for at in inside if at != noun and _describes(words, at, noun))
    done_to = clause.object if clause.object is not None and words[clause.object].relation == "obj" else None
    return Event(
        words[noun].lower,
        words[clause.verb].lower,
        clause.passive,
        words[done_to].lower if done_to is not None else None,
        described,
        None,
    )


def _describes(words: Sequence[Word], at: int, noun: int) -> bool:
    """Tell whether a word describes a noun, by itself or by what it is below of."""
    while at >= 0 and at != noun:
        if words[at].relation not in _DESCRIBING:
            return False
        at = words[at].head
    return at == noun
