"""Extractive summary without a language model: a selection of the sources' sentences.

Sentences are selected as in maximum coverage of facts, the most facts for its length first (Filatova and
Hatzivassiloglou 2004), and keep their order. A name, number or date whose sentence does not fit is listed after the
sentences of its source.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from vicw_core.index import sparse
from vicw_core.language.sentences import sentences
from vicw_shared.text import fold_case
from vicw_sleep.consolidation.model import SourceEvent
from vicw_sleep.consolidation.summary.facts import Fact, FactKind, facts_of, is_stated
from vicw_sleep.consolidation.summary.format import heads_of

_LISTED = frozenset({FactKind.NAME, FactKind.NUMBER, FactKind.DATE})
"""Facts that a list can state. A negation or a cause needs a sentence."""
_WEIGHTS = {FactKind.NEGATION: 3.0, FactKind.CAUSE: 3.0}
_LENGTH_OFFSET = 20
"""Characters added to each sentence's length: otherwise a sentence of two words would have the highest density."""
_LINE_OVERHEAD = 6
"""Characters of a line beside its sentences."""
_FILLER = re.compile(
    r"(?i:haha|lol|thanks?|thank you|ok(?:ay)?|great|cool|wow|bye|hi|hello|hey)\b"
    r"(?:[ ,]+(?:(?i:thanks?|so|very|a|lot|much|again|there|all|guys?|man|bye|hi|hey|haha|cool|great|wow)|[A-Z]\w+))*"
    r"\W*"
)
"""Sentences that only greet or thank, and are left out. *Yes, I did* answers a question."""


@dataclass(slots=True)
class SummarySentence:
    """A sentence of a source, or a line of a summary, with its facts."""

    source: int
    order: int
    text: str
    facts: set[Fact] = field(default_factory=set)

    def facts_in_order(self) -> list[Fact]:
        """Return the facts in the order of the sentence."""
        text = fold_case(self.text)
        return sorted(self.facts, key=lambda fact: (text.find(fact.key), fact))


def sentences_of(sources: Sequence[SourceEvent]) -> list[SummarySentence]:
    """Return all sentences of the sources, and the lines of summaries, in order, with their facts."""
    return [
        SummarySentence(position, order, text, facts)
        for position, source in enumerate(sources)
        for order, (text, facts) in enumerate(_parts(source))
    ]


def _parts(source: SourceEvent) -> Iterator[tuple[str, set[Fact]]]:
    """Yield the parts of a source that may be left out separately. A summary line is one part: it begins with its
    speaker.
    """
    for line in source.text.split("\n") if source.event.is_macro else ():
        texts = (line, line.partition(": ")[2])  # without the speaker, as the graph stores causal statements
        yield line, {fact for text in texts for sentence in _sentences(text) for fact in _facts(sentence, source)}
    for sentence in () if source.event.is_macro else _sentences(source.text):
        yield sentence, _facts(sentence, source)


def _sentences(text: str) -> Iterator[str]:
    for span in sentences(text):
        yield " ".join(text[span.start : span.end].split())


def _facts(sentence: str, source: SourceEvent) -> set[Fact]:
    return facts_of(sentence, source.named, source.caused)


def summarise(
    sources: Sequence[SourceEvent],
    source_sentences: Sequence[SummarySentence],
    *,
    max_chars: int,
    model_lines: Sequence[str] = (),
    lost_facts: Collection[Fact] = (),
) -> str:
    """Return a summary of at most ``max_chars`` characters: a line a source, ``Speaker: remaining sentences``, with the
    source's title (``heads_of``); of a summary, its remaining lines.

    What does not fit is missing, and the check reports it. ``model_lines`` has a line for each source from another
    author: then only the ``lost_facts`` are added.
    """
    chosen = [SummarySentence(position, -1, line) for position, line in enumerate(model_lines) if line]
    room = (
        max_chars
        - sum(len(head) + _LINE_OVERHEAD for head in heads_of(sources))
        - sum(len(one.text) + 1 for one in chosen)
    )
    open_facts: dict[Fact, int] = {}
    for one in source_sentences:
        for fact in one.facts_in_order():
            open_facts.setdefault(fact, one.source)
    if model_lines:
        open_facts = {fact: position for fact, position in open_facts.items() if fact in lost_facts}
    remaining = list(source_sentences)
    while best := _best_sentence(remaining, open_facts.keys()):
        remaining.remove(best)
        still_open = _still_missing(open_facts, best)
        if (cost := len(best.text) + 1) + _cost(still_open) <= room:
            chosen.append(best)
            room, open_facts = room - cost, still_open
    for one in () if model_lines else sorted(remaining, key=lambda one: len(one.text)):
        if (cost := len(one.text) + 1) + _cost(open_facts) <= room and _FILLER.fullmatch(one.text) is None:
            chosen.append(one)
            room -= cost
    return "\n".join(_lines(sources, chosen, open_facts))


def _best_sentence(candidates: Sequence[SummarySentence], open_facts: Set[Fact]) -> SummarySentence | None:
    """Return the sentence with the most ``open_facts`` for its length; None: no sentence has any.

    Facts that cannot be listed come first: a summary without room for them is refused.
    """
    useful = [one for one in candidates if not one.facts.isdisjoint(open_facts)]
    return max(useful, key=lambda one: (*_worth(one.facts & open_facts, one), -one.source, -one.order), default=None)


def _worth(facts: Collection[Fact], sentence: SummarySentence) -> tuple[bool, float]:
    weight = sum(_WEIGHTS.get(fact.kind, 1.0) for fact in facts)
    return any(fact.kind not in _LISTED for fact in facts), weight / (len(sentence.text) + _LENGTH_OFFSET)


def _still_missing(open_facts: Mapping[Fact, int], sentence: SummarySentence) -> dict[Fact, int]:
    """Return the facts still missing beside a sentence."""
    stems = [set(sparse.stems(sentence.text))]
    return {
        fact: position
        for fact, position in open_facts.items()
        if fact not in sentence.facts and not (fact.kind not in _LISTED and is_stated(fact, sentence.facts, stems))
    }


def _cost(open_facts: Mapping[Fact, int]) -> int:
    """Return the characters needed to list facts; those that cannot be listed are lost anyway."""
    return sum(len(fact.key) + 2 for fact in open_facts if fact.kind in _LISTED)


def _lines(
    sources: Sequence[SourceEvent], chosen: Sequence[SummarySentence], open_facts: Mapping[Fact, int]
) -> Iterator[str]:
    parts_by_source: list[tuple[SourceEvent, list[str]]] = []
    for position, source in enumerate(sources):
        parts = [one.text for one in sorted(chosen, key=lambda one: one.order) if one.source == position]
        listed = [fact.key for fact, where in open_facts.items() if where == position and fact.kind in _LISTED]
        if listed:
            parts.append(f"[{', '.join(dict.fromkeys(listed))}]")
        if parts:
            parts_by_source.append((source, parts))
    for (source, parts), head in zip(parts_by_source, heads_of([source for source, _ in parts_by_source]), strict=True):
        text = ("\n" if source.event.is_macro else " ").join(parts)
        yield f"{head}: {text}" if head else text
