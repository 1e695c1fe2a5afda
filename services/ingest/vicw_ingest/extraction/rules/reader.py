"""What a text tells of, by rules alone: statements, names, who did it, what caused it, who is whose sister.

English. Of text in another language the statements, names, code and dates are read, and little else is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicw_ingest.extraction.reading import (
    ADDRESSEE,
    ITEM,
    PREVIOUS,
    SPEAKER,
    STATEMENT,
    Asserted,
    Happening,
    Kin,
    Link,
    Reading,
    Source,
)
from vicw_ingest.extraction.rules.agents import agents_of, is_main
from vicw_ingest.extraction.rules.causes import Cause, CauseFinder
from vicw_ingest.extraction.rules.clauses import Phrases
from vicw_ingest.extraction.rules.ends import Ends
from vicw_ingest.extraction.rules.kinship import ADDRESSEES, SPEAKERS, Relationship, relationships_in
from vicw_ingest.extraction.rules.lowercase import names_in_small_letters
from vicw_ingest.extraction.rules.names import Kind, Name, names_in
from vicw_ingest.extraction.rules.people import People, seems_person
from vicw_ingest.extraction.rules.relationships import PETS
from vicw_ingest.extraction.rules.things import Things
from vicw_ingest.extraction.rules.truth import Claim, claims, is_common, subject_of, whose_and_of
from vicw_shared.language.analysis import Analyst, Sentence, Word
from vicw_shared.language.times import times_in
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label
from vicw_shared.text import fold

_SUBTYPES = {
    Kind.SYMBOL: "symbol",
    Kind.PATH: "file",
    Kind.URL: "url",
    Kind.MAIL: "mail",
    Kind.HANDLE: "handle",
    Kind.AMOUNT: "amount",
}
_POINTING_BACK = frozenset({"that", "this", "it", "which"})
_FEWEST_WORDS = 3
_DATE_WIDTHS = {"year": 4, "month": 7}
_DATE_WIDTH = 10


class RulesReader:
    """Reads texts. Not for two threads at once."""

    def __init__(self) -> None:
        self._analyst = Analyst()
        self._causes = CauseFinder()

    def read(self, sources: Sequence[Source]) -> list[Reading]:
        """Return what each text tells of, in order."""
        analysed = self._analyst.analyse([source.text for source in sources])
        return [
            _Text(source, sentences).read(self._causes.find(sentences))
            for source, sentences in zip(sources, analysed, strict=True)
        ]


class _Text:
    """The reading of one text, sentence by sentence."""

    def __init__(self, source: Source, sentences: Sequence[Sentence]) -> None:
        self._source = source
        self._sentences = sentences
        self._things = Things()
        self._people = People()
        self._statements: dict[int, str] = {}
        self._reading = Reading()

    def read(self, causes: Sequence[Cause | None]) -> Reading:
        """Return what the text tells of."""
        links: dict[Link, None] = {}
        for number, cause in enumerate(causes):
            links.update(dict.fromkeys(self._read(number, cause)))
        self._reading.things = self._things.all()
        self._reading.links = list(links)
        return self._reading

    def _read(self, number: int, cause: Cause | None) -> Iterator[Link]:
        sentence = self._sentences[number]
        self._people.next_sentence()
        ends = Ends(sentence.words, _all_names(sentence))
        yield from self._name_all(number, ends)
        names = ends.keys
        mentioned = list(dict.fromkeys([*names.values(), *ends.kin.values()]))
        said = claims(sentence)
        if not said and not _says_something(sentence, names):
            yield from (Link(ITEM, "MENTIONS", key, "rules:name") for key in mentioned)
            return
        statement = self._statement(number, mentioned)
        self._reading.asserted += self._asserted(said, statement, ends)
        yield from (Link(statement, "MENTIONS", key, "rules:name") for key in mentioned)
        events: list[Happening] = []
        if cause is not None:
            caused, events = self._caused(number, cause)
            yield caused
        for event in events:
            inside = [key for name, key in names.items() if _within(name.span, event.span)]
            yield from (Link(event.key, "MENTIONS", key, "rules:name") for key in inside)
        yield from self._initiated(number, ends, events, statement)

    def _name(self, name: Name, words: Sequence[Word]) -> str:
        kind = _SUBTYPES.get(name.kind)
        label = Label.CONCEPT if name.kind is Kind.AMOUNT else Label.ENTITY
        guess = kind or ("person" if seems_person(name, words) else "name")
        key = self._people.known_as(name.text) if name.kind is Kind.NAME else None
        key = key or self._things.thing(_called(name), label, kind, guess, name.span)
        self._people.add(key, name, words)
        return key

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

    def _asserted(self, said: Sequence[Claim], statement: str, ends: Ends) -> Iterator[Asserted]:
        """Yield what the sentence says of attributes of things that are known."""
        named = {**self._things.keys(), **{fold(_called(name)): key for name, key in ends.keys.items()}} if said else {}
        for claim in said:
            first, _, rest = claim.subject.partition(" ")
            meant = self._people.meant_by(first)
            if meant is not None:
                found: tuple[str | None, str] | None = (meant, rest)
            elif is_common(claim.subject):
                found = None, claim.subject
            else:
                found = whose_and_of(claim.subject, named)
            if found is None:
                continue
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
            forms = (name.split(), (subject_of(f"the {name}") or "").split())  # a claim has "max" as "maximum"
            called = next((form for form in forms if form and behind[: len(form)] == form), [])
            return who, " ".join(behind[len(called) :])
        return None

    def _name_all(self, number: int, ends: Ends) -> Iterator[Link]:
        """Find out whom the sentence names, by name or by a relationship alone, and yield who is whose."""
        words = self._sentences[number].words
        told = list(relationships_in(words, ends.named, quoting=self._is_quoting(number)))
        introduced = {ends.name_at(found.name) for found in told if found.name is not None}
        for name in ends.written:
            if name not in introduced:
                ends.know(name, self._name(name, words))
        for found in told:
            owner = self._owner(found, words, ends)
            if owner is None:
                continue
            if found.name is not None:
                who = self._introduced(ends.name_at(found.name), found, owner, ends, words)
                yield Link(owner, "HAS_RELATIONSHIP", who, "rules:kinship", desc=found.relationship)
            else:
                span = Span(words[found.first].start, words[found.last].end)
                self._reading.kin.append(Kin(f"kin {len(self._reading.kin)}", owner, found.relationship, span))
                who = self._reading.kin[-1].key
            ends.relatives[owner, found.relationship] = who
            ends.kin.update(dict.fromkeys(range(found.first, found.last + 1), who))
        for name in ends.written:
            if name not in ends.keys:
                ends.know(name, self._name(name, words))

    def _introduced(self, name: Name, found: Relationship, owner: str, ends: Ends, words: Sequence[Word]) -> str:
        """Return the key of somebody whom the sentence introduces as a relative."""
        called = _called(name)
        who = ends.keys.get(name) or self._things.relative(called, owner, found.relationship, name.span)
        if who is None:
            who = self._name(name, words)
        else:
            self._people.add(who, name, words)
        ends.know(name, who)
        self._things.note(called, owner, found.relationship, who)
        self._people.is_called(who, found.relationship)
        if found.relationship.rpartition(" ")[2] not in PETS:
            self._things.is_person(who)
        return who

    def _is_quoting(self, number: int) -> bool:
        """Tell whether a quotation is open where a sentence begins; none goes beyond its paragraph."""
        before = self._source.text[: self._sentences[number].span.start].rpartition("\n\n")[2]
        return before.count('"') % 2 == 1 or before.rfind("“") > before.rfind("”")

    def _owner(self, found: Relationship, words: Sequence[Word], ends: Ends) -> str | None:
        """Return whose relationship it is: the speaker's, a name's, or whom *his* or *her* means."""
        if found.owner in _OWNERS:
            return _OWNERS[found.owner]
        if found.owner in ends.named:
            return ends.called(found.owner)
        if found.owner in ends.kin:
            return ends.kin[found.owner]
        subjects = [ends.of(at) for at in range(found.owner) if words[at].relation.startswith("nsubj")]
        return self._people.whose(words[found.owner].lower, subjects[-1] if subjects else None)

    def _caused(self, number: int, cause: Cause) -> tuple[Link, list[Happening]]:
        """Return the relation, and the events that were added for its ends: others are sentences before."""
        keys, added = [], []
        for role, span in (("cause", cause.cause), ("effect", cause.effect)):
            key = self._told_before(number, span)
            if key is None:
                added.append(Happening(f"{role} {number}", self._source.text[span.start : span.end], "event", span))
                key = added[-1].key
            keys.append(key)
        self._reading.happenings += added
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

    def _initiated(self, number: int, ends: Ends, events: Sequence[Happening], statement: str) -> Iterator[Link]:
        """Yield who did what is told: the cause or the effect that the verb is in, else the sentence."""
        sentence = self._sentences[number]
        phrases = Phrases(sentence)
        for agent, verb in agents_of(phrases, list(phrases.clauses())):
            who = ends.of(agent) or self._people.meant_by(sentence.words[agent].lower)
            if who is None:
                continue
            at = Span(sentence.words[verb].start, sentence.words[verb].end)
            event = next((event.key for event in events if _within(at, event.span)), None)
            if event is not None or is_main(sentence.words, verb):
                yield Link(who, "INITIATED", event or statement, "rules:subject")


_OWNERS = {SPEAKERS: SPEAKER, ADDRESSEES: ADDRESSEE}


def _says_something(sentence: Sentence, names: dict[Name, str]) -> bool:
    """Tell whether a sentence is worth a statement: thanks and exclamations are not."""
    words = [word for word in sentence.words if word.text[0].isalnum()]
    tells = any(word.tag in {"VERB", "AUX"} for word in words) or bool(names)
    return len(words) >= _FEWEST_WORDS and tells


def _all_names(sentence: Sentence) -> list[Name]:
    written = list(names_in(sentence))
    found = [*written, *names_in_small_letters(sentence.words, written)]
    return sorted(found, key=lambda name: name.span.start)


def _called(name: Name) -> str:
    """Return what is meant by a name: ``./a.py`` is ``a.py``, and ``src\\a.py`` is ``src/a.py``, as in stack traces."""
    if name.kind is Kind.PATH:
        return name.text.replace("\\", "/").removeprefix("./")
    return name.text.removesuffix("()")


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
