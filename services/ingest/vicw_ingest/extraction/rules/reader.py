"""What a text tells of, by rules alone: statements, names, who did it, what caused it, who is whose sister.

English. Of text in another language the statements, names, code and dates are read, and little else is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vicw_ingest.extraction.reading import (
    HE,
    ITEM,
    PREVIOUS,
    SHE,
    STATEMENT,
    Asserted,
    Happening,
    Link,
    Reading,
    Source,
)
from vicw_ingest.extraction.rules.agents import agents_of, is_main
from vicw_ingest.extraction.rules.attribute_claims import Claim, claims, subject_of, whose_and_of
from vicw_ingest.extraction.rules.causes import Cause, CauseFinder
from vicw_ingest.extraction.rules.clauses import Phrases
from vicw_ingest.extraction.rules.ends import Ends
from vicw_ingest.extraction.rules.instructing import is_reference
from vicw_ingest.extraction.rules.names import Name
from vicw_ingest.extraction.rules.naming import Naming, written
from vicw_ingest.extraction.rules.retelling import Event, event_in, told_again
from vicw_shared.language.analysis import Analyst, Sentence, Word
from vicw_shared.language.times import times_in
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label
from vicw_shared.text import fold

_POINTING_BACK = frozenset({"that", "this", "it", "which"})
_FEWEST_WORDS = 3
_LATELY = 12
"""Sentences back in which an event that is told again may have been told."""
_DATE_WIDTHS = {"year": 4, "month": 7}
_DATE_WIDTH = 10


@dataclass(frozen=True, slots=True)
class _Told:
    """A stretch of a sentence that is told as an event, or (None) the sentence as a statement, and its key."""

    sentence: int
    key: str
    span: Span | None = None


class RulesReader:
    """Reads texts. Not for two threads at once."""

    def __init__(self) -> None:
        self._analyst = Analyst()
        self._causes = CauseFinder()

    def read(self, sources: Sequence[Source]) -> list[Reading]:
        """Return what each text tells of, in order."""
        analysed = self._analyst.analyse([source.text for source in sources])
        return [
            _Text(source, sentences).read(self._causes.find(sentences, reference=is_reference(source.text)))
            for source, sentences in zip(sources, analysed, strict=True)
        ]


class _Text:
    """The reading of one text, sentence by sentence."""

    def __init__(self, source: Source, sentences: Sequence[Sentence]) -> None:
        self._source = source
        self._sentences = sentences
        self._naming = Naming(source, sentences)
        self._things = self._naming.things
        self._people = self._naming.people
        self._statements: dict[int, str] = {}
        self._reading = Reading()
        self._told: list[_Told] = []

    def read(self, causes: Sequence[Cause | None]) -> Reading:
        """Return what the text tells of."""
        links: dict[Link, None] = {}
        for number, cause in enumerate(causes):
            links.update(dict.fromkeys(self._read(number, cause)))
        self._reading.things = self._things.all()
        self._reading.kin = self._naming.kin
        self._reading.links = list(links)
        return self._reading

    def _read(self, number: int, cause: Cause | None) -> Iterator[Link]:
        sentence = self._sentences[number]
        related: list[Link] = []
        ends = self._naming.read(number, related)
        yield from related
        names = ends.keys
        mentioned = list(dict.fromkeys([*names.values(), *ends.kin.values()]))
        said = claims(sentence)
        if not said and not _says_something(sentence, names):
            yield from (Link(ITEM, "MENTIONS", key, "rules:name") for key in mentioned)
            return
        statement = self._statement(number, mentioned)
        self._reading.asserted += self._asserted(number, said, statement, ends)
        yield from (Link(statement, "MENTIONS", key, "rules:name") for key in mentioned)
        meant = {self._people.meant_by(word.lower, word.start) for word in sentence.words if word.tag == "PRON"}
        yield from (Link(statement, "MENTIONS", key, "rules:pronoun") for key in sorted({HE, SHE} & meant))
        events: list[Happening] = []
        if cause is not None:
            caused, events = self._caused(number, cause)
            if caused is not None:
                yield caused
        else:
            self._told.append(_Told(number, statement))
        for event in events:
            inside = [key for name, key in names.items() if _within(name.span, event.span)]
            yield from (Link(event.key, "MENTIONS", key, "rules:name") for key in inside)
        yield from self._initiated(number, ends, events, statement)

    def _statement(self, number: int, mentioned: list[str]) -> str:
        """Add the sentence as a statement; its time is the first that it names."""
        span = self._sentences[number].span
        text = self._source.text[span.start : span.end]
        time = next(times_in(text, self._source.at), None)
        if time is not None:
            date = time.at.date().isoformat()[: _DATE_WIDTHS.get(time.precision, _DATE_WIDTH)]
            where = Span(span.start + time.span.start, span.start + time.span.end)
            mentioned.append(self._things.thing(date, Label.CONCEPT, "date", "date", where))
        key = self._statements[number] = f"statement {number}"
        self._reading.happenings.append(Happening(key, text, STATEMENT, span, time.at if time is not None else None))
        return key

    def _asserted(self, number: int, said: Sequence[Claim], statement: str, ends: Ends) -> Iterator[Asserted]:
        """Yield what the sentence says of attributes of things that are known."""
        doubtful = self._things.is_doubtful
        here = {fold(written(name)): key for name, key in ends.keys.items() if said and not doubtful(key)}
        named = {**self._things.keys(), **here} if said else {}
        for claim in said:
            first, _, rest = claim.subject.partition(" ")
            meant = self._people.meant_by(first)
            if meant is not None:
                found: tuple[str | None, str] | None = (meant, rest)
            else:
                found = whose_and_of(claim.subject, named)
            if found is None:
                continue
            if found[0] is not None and not found[1] and _lives_there(claim, self._sentences[number]):
                self._things.is_person(found[0])
            source = named.get(claim.source, "") if claim.source is not None else None
            yield Asserted(
                statement,
                *found,
                claim.attribute,
                claim.value,
                ended=claim.ended,
                source=source,
                weak=claim.weak,
                now=claim.now,
                also=claim.also,
                relative=self._relative(*found, ends),
            )

    def _relative(self, whose: str | None, of: str, ends: Ends) -> tuple[str, str] | None:
        """Return who it is that ``whose`` sister is, where ``of`` begins with her, and what of hers is behind it."""
        words = of.split()
        for (owner, relationship), who in ends.relatives.items():
            called_so = relationship.rpartition(" ")[2]
            if owner != whose or called_so not in words:
                continue
            behind = words[words.index(called_so) + 1 :]
            name = fold(self._things.name_of(who))
            parts = name.split()
            forms = (parts, (subject_of(f"the {name}") or "").split(), parts[:1])  # a claim has "max" as "maximum"
            called = next((form for form in forms if form and behind[: len(form)] == form), [])
            return who, " ".join(behind[len(called) :])
        return None

    def _caused(self, number: int, cause: Cause) -> tuple[Link | None, list[Happening]]:
        """Return the relation, and the events that were added for its ends: others are sentences before."""
        keys, added = [], []
        for role, span in (("cause", cause.cause), ("effect", cause.effect)):
            event = self._event(number, span)
            key = self._told_before(number, span) or self._told_again(number, event)
            if key is None:
                text, gist = self._source.text[span.start : span.end], event.gist() if event is not None else None
                added.append(Happening(f"{role} {number}", text, "event", span, gist=gist))
                key = added[-1].key
                self._told.append(_Told(number, key, span))
            keys.append(key)
        self._reading.happenings += added
        if keys[0] == keys[1]:
            return None, []
        return Link(keys[0], "CAUSED", keys[1], f"rules:{cause.rule}", certainty=cause.certainty), added

    def _told_before(self, number: int, span: Span) -> str | None:
        """Return the sentence that a cause or an effect is, or points back to: one before, or the item before."""
        for at in range(number):
            if span == self._sentences[at].span:
                return self._statements.get(at)
        before = self._statements.get(number - 1)
        if self._source.text[span.start : span.end].casefold() in _POINTING_BACK:
            return before if number > 0 else PREVIOUS
        return None

    def _told_again(self, number: int, event: Event | None) -> str | None:
        """Return what was told before, lately and in other words, of what a cause or an effect is."""
        if event is None:
            return None
        lately = [told for told in self._told if number - _LATELY <= told.sentence < number]
        before = [(told.key, self._event(told.sentence, told.span)) for told in lately if self._may_tell(told, event)]
        return told_again(event, [(key, found) for key, found in before if found is not None])

    def _may_tell(self, told: _Told, event: Event) -> bool:
        words = {word.lower for word in self._sentences[told.sentence].words}
        return {event.noun, event.verb} <= words

    def _event(self, number: int, span: Span | None) -> Event | None:
        return event_in(self._sentences[number], self._source.text, self._source.at, span)

    def _initiated(self, number: int, ends: Ends, events: Sequence[Happening], statement: str) -> Iterator[Link]:
        """Yield who did what is told: the cause or the effect that the verb is in, else the sentence."""
        sentence = self._sentences[number]
        phrases = Phrases(sentence)
        for agent, verb in agents_of(phrases, list(phrases.clauses())):
            who = ends.of(agent) or self._pronoun(sentence.words[agent])
            if who is None:
                continue
            at = Span(sentence.words[verb].start, sentence.words[verb].end)
            event = next((event.key for event in events if _within(at, event.span)), None)
            if event is not None or is_main(sentence.words, verb):
                yield Link(who, "INITIATED", event or statement, "rules:subject")

    def _pronoun(self, word: Word) -> str | None:
        who = self._people.meant_by(word.lower, word.start)
        if who is not None:
            self._people.speak_of(who, word.start, subject=True)
        return who


def _says_something(sentence: Sentence, names: dict[Name, str]) -> bool:
    """Tell whether a sentence is worth a statement: thanks and exclamations are not."""
    words = [word for word in sentence.words if word.text[0].isalnum()]
    tells = any(word.tag in {"VERB", "AUX"} for word in words) or bool(names)
    return len(words) >= _FEWEST_WORDS and tells


def _lives_there(claim: Claim, sentence: Sentence) -> bool:
    """Tell whether it is said that somebody lives in a place that has a name."""
    lives = any(word.lower in {"live", "lives", "lived"} for word in sentence.words)
    return lives and claim.attribute == "home" and claim.value[:1].isupper()


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
