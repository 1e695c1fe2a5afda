"""The extractor of English: statements, names, agents and causes by rules, and noun phrases.

In other languages only statements, names and times are reliable. A sentence that gives a time is a statement even if no
rule of English finds a verb in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

from vicw_core.language.times.expressions import TimeExpression
from vicw_core.language.times.reader import times_in
from vicw_english.agents import agents_of, is_person
from vicw_english.aliases import Alias, aliases_in, with_nicknames
from vicw_english.causes import Cause, causes_in
from vicw_english.names import Name, NameKind, names_in
from vicw_english.noun_phrases import phrases_in
from vicw_english.tagging.analysis import Analyst, Sentence, Word
from vicw_shared.model import Label
from vicw_shared.model.edges import ALIAS_OF
from vicw_shared.model.extraction import (
    ITEM,
    PREVIOUS,
    SPEAKER,
    STATEMENT,
    ExtractedEntity,
    ExtractedEvent,
    ExtractedRelation,
    SourceText,
    TextExtraction,
)
from vicw_shared.text import Span, fold_case

_MOVED = re.compile(
    r"\b(?:moved|postponed|put\ off|pushed|shifted|rescheduled|delayed|changed)\b[^.;]{0,40}?\ (?:to|until|till)\ ",
    re.VERBOSE | re.IGNORECASE,
)
"""Something was moved to a day: one that is still to come, although the sentence is in the past tense."""
_WORDS = re.compile(r"[^\W\d_]{2}")
"""A word, also of a language that is written without spaces."""
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]{3}")
"""A phrase of Chinese or Japanese, which is one word here."""
_BACK_REFERENCES = frozenset({"that", "this", "it", "which"})
_ABOUT = frozenset({"month", "year"})
"""Units of which "two ago" means half a unit more or less."""
_MIN_WORDS = 3
_DATE_WIDTHS = {"year": 4, "month": 7}
_DATE_WIDTH = 10


_SUBTYPES = {
    NameKind.SYMBOL: "symbol",
    NameKind.PATH: "file",
    NameKind.URL: "url",
    NameKind.MAIL: "mail",
    NameKind.HANDLE: "handle",
    NameKind.AMOUNT: "amount",
}
_PEOPLE = frozenset({NameKind.NAME, NameKind.HANDLE})
_PRONOUNS = {"i": SPEAKER, "me": SPEAKER}


class EnglishExtractor:
    """Implements the port ``Extractor`` by rules over tagged sentences."""

    @cached_property
    def _analyst(self) -> Analyst:
        return Analyst()

    def extract(self, sources: Sequence[SourceText]) -> list[TextExtraction]:
        """Return the extraction of each text, in order."""
        analysed = self._analyst.analyse([source.text for source in sources])
        return [
            _TextExtractor(source, sentences).extract() for source, sentences in zip(sources, analysed, strict=True)
        ]

    def noun_phrases(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the noun phrases of each text, folded, as often as they occur."""
        return [
            [phrase for sentence in sentences for phrase in phrases_in(sentence.words)]
            for sentences in self._analyst.analyse(texts)
        ]


class _TextExtractor:
    """The extraction of one text, sentence by sentence."""

    def __init__(self, source: SourceText, sentences: Sequence[Sentence]) -> None:
        self._source = source
        self._sentences = sentences
        self._words = {word.text for sentence in sentences for word in sentence.words}
        self._entities: dict[tuple[str | None, str], ExtractedEntity] = {}
        self._statements: dict[int, str] = {}
        self._times: list[tuple[TimeExpression, str] | None] = []
        self._has_time = False
        self._extraction = TextExtraction()

    def extract(self) -> TextExtraction:
        """Return the extraction of the text."""
        causes = causes_in(self._sentences)
        self._times = [self._time_of(number) for number in range(len(self._sentences))]
        self._has_time = any(self._times)
        relations: dict[ExtractedRelation, None] = {}
        for number, cause in enumerate(causes):
            relations.update(dict.fromkeys(self._extract_sentence(number, cause)))
        self._extraction.entities = list(self._entities.values())
        self._extraction.relations = list(relations)
        return self._extraction

    def _extract_sentence(self, number: int, cause: Cause | None) -> Iterator[ExtractedRelation]:
        sentence = self._sentences[number]
        found, aliases = list(names_in(sentence, self._words)), list[Alias]()
        if not self._text_of(number).rstrip().endswith("?"):
            found, aliases = with_nicknames(self._source.text, found)
            aliases += aliases_in(self._source.text, sentence.span.start, found)
        people = {name for one in aliases if one.is_person for name in (one.alias, one.name)}
        names = {name: self._add_name(name, sentence.words, is_known_person=name in people) for name in found}
        mentioned = list(dict.fromkeys(names.values()))
        for one in aliases:
            yield ExtractedRelation(names[one.alias], ALIAS_OF, names[one.name] if one.name else SPEAKER, "rules:alias")
        time = self._times[number]
        # Beside a sentence with a time each other one counts: it is of the time of telling.
        if time is None and not _is_statement(sentence, names, is_sure=self._has_time):
            yield from (ExtractedRelation(ITEM, "MENTIONS", key, "rules:name") for key in mentioned)
            return
        statement = self._add_statement(number, mentioned, time)
        yield from (ExtractedRelation(statement, "MENTIONS", key, "rules:name") for key in mentioned)
        events: list[ExtractedEvent] = []
        if cause is not None:
            caused, events = self._add_cause(number, cause)
            if caused is not None:
                yield caused
        for event in events:
            inside = [key for name, key in names.items() if _within(name.span, event.span)]
            yield from (ExtractedRelation(event.key, "MENTIONS", key, "rules:name") for key in inside)
        yield from self._agents(sentence, names, events, statement)

    def _add_name(self, name: Name, words: Sequence[Word], *, is_known_person: bool) -> str:
        """Return the key of the entity with this name; within a text, one name is one entity."""
        kind, text = _SUBTYPES.get(name.kind), _normal_form(name)
        guess = kind or ("person" if is_known_person or is_person(words, name.positions) else "name")
        label = Label.CONCEPT if name.kind is NameKind.AMOUNT else Label.ENTITY
        return self._add_entity(text, label, kind, guess, name.span)

    def _add_entity(self, name: str, label: Label, kind: str | None, guess: str, span: Span) -> str:
        new = ExtractedEntity(f"thing {len(self._entities)}", name, label, kind, guess, span)
        entity = self._entities.setdefault((kind, fold_case(name)), new)
        if guess == "person":
            self._entities[kind, fold_case(name)] = replace(entity, guess=guess)
        return entity.key

    def _time_of(self, number: int) -> tuple[TimeExpression, str] | None:
        """Return the first time that a sentence gives, in UTC, and its date in the zone of the teller; None: no time.

        A sentence of nothing but a time tells of nothing: None, too.
        """
        text = self._text_of(number)
        ahead = True if _MOVED.search(text) else None
        for time in times_in(text, self._source.at, ahead=ahead, day_first=self._source.day_first):
            with suppress(OverflowError):  # in UTC it is outside of the years 1 to 9999
                before = (time.end - time.start) / 2 if time.unit in _ABOUT else timedelta()
                in_utc = replace(
                    time, start=(time.start - before).astimezone(UTC), end=(time.end - before).astimezone(UTC)
                )
                date = time.start.date().isoformat()[: _DATE_WIDTHS.get(time.precision, _DATE_WIDTH)]
                return (in_utc, date) if _WORDS.search(text[: time.begins] + text[time.ends :]) else None
        return None

    def _text_of(self, number: int) -> str:
        span = self._sentences[number].span
        return self._source.text[span.start : span.end]

    def _add_statement(self, number: int, mentioned: list[str], told: tuple[TimeExpression, str] | None) -> str:
        """Add the sentence as a statement of a time."""
        span, text = self._sentences[number].span, self._text_of(number)
        when: tuple[datetime, ...] = ()
        if told is not None:
            time, date = told
            when = (time.start, time.end)
            where = Span(span.start + time.begins, span.start + time.ends)
            mentioned.append(self._add_entity(date, Label.CONCEPT, "date", "date", where))
        key = self._statements[number] = f"statement {number}"
        self._extraction.events.append(ExtractedEvent(key, text, STATEMENT, span, *when))
        return key

    def _add_cause(self, number: int, cause: Cause) -> tuple[ExtractedRelation | None, list[ExtractedEvent]]:
        """Return the relation and the events added for its ends. The other ends are earlier statements or PREVIOUS."""
        keys, added = [], []
        for role, span in (("cause", cause.cause), ("effect", cause.effect)):
            key = self._earlier_statement(number, span)
            if key is None:
                added.append(
                    ExtractedEvent(f"{role} {number}", self._source.text[span.start : span.end], "event", span)
                )
                key = added[-1].key
            keys.append(key)
        self._extraction.events += added
        if keys[0] == keys[1]:
            return None, []
        return ExtractedRelation(keys[0], "CAUSED", keys[1], f"rules:{cause.rule}", certainty=cause.certainty), added

    def _earlier_statement(self, number: int, span: Span) -> str | None:
        """Return the earlier statement that a cause or effect equals or refers back to, or PREVIOUS; else None."""
        for at in range(number):
            if span == self._sentences[at].span:
                return self._statements.get(at)
        if self._source.text[span.start : span.end].casefold() in _BACK_REFERENCES:
            return self._statements.get(number - 1) if number > 0 else PREVIOUS
        return None

    def _agents(
        self, sentence: Sentence, names: Mapping[Name, str], events: Sequence[ExtractedEvent], statement: str
    ) -> Iterator[ExtractedRelation]:
        """Yield INITIATED relations from agents to the cause or effect that contains the verb, else the statement."""
        keys = {at: key for name, key in names.items() if name.kind in _PEOPLE for at in name.positions}
        named = {at: name.positions for name in names if name.kind in _PEOPLE for at in name.positions}
        starts = {event.span.start for event in events}
        begins = [at for at, word in enumerate(sentence.words) if word.start in starts]
        for agent, verb in agents_of(sentence.words, named, begins):
            agent_key = keys.get(agent) or _PRONOUNS.get(sentence.words[agent].lower)
            if agent_key is not None:
                at = Span(sentence.words[verb].start, sentence.words[verb].end)
                event = next((event.key for event in events if _within(at, event.span)), None)
                yield ExtractedRelation(agent_key, "INITIATED", event or statement, "rules:subject")


def _is_statement(sentence: Sentence, names: Mapping[Name, str], *, is_sure: bool) -> bool:
    """Return whether a sentence becomes a statement: it has three words, and a verb or a name, or ``is_sure``."""
    words = [word for word in sentence.words if word.text[0].isalnum()]
    has_content = is_sure or any(word.tag in {"VERB", "AUX"} for word in words) or bool(names)
    is_long = len(words) >= _MIN_WORDS or (is_sure and any(_UNSPACED.search(word.text) for word in words))
    return is_long and has_content


def _normal_form(name: Name) -> str:
    """Return a name's normal form: ``./a.py`` is ``a.py``, and ``src\\a.py`` is ``src/a.py``, as in stack traces."""
    if name.kind is NameKind.PATH:
        return name.text.replace("\\", "/").removeprefix("./")
    return name.text.removesuffix("()")


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
