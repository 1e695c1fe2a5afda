"""Question with its scope, engines and scores so far, as the spreads of the graph channel use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.model.similarity import QuerySimilarity
from vicw_shared.model.triggers import phrase_of, phrases_in, spellings
from vicw_shared.ports import GraphStore, Scope

_WORD_CHARS = 4
_BEGINNING_CHARS = 5
"""Minimum characters of a word that is looked up as the beginning of a name."""
_FUNCTION_WORDS = frozenset(
    "about above after again along among because before behind being below between could doing during every might never"
    " other shall should since still their theirs there these things those through under until using where which while"
    " whose within without would".split()
)
"""Words that are never the beginning of a name."""


@dataclass(frozen=True)
class SpreadContext:
    """A question and the engines that answer it.

    ``strengths`` (≥ 0) are the scores of the items found so far, by key. ``people`` are the folded names and uids of
    the participants. ``triggered`` maps the items with a trigger phrase in the question to their passages.
    """

    graph: GraphStore
    similarity: QuerySimilarity
    scope: Scope
    text: str
    strengths: Mapping[str, float]
    people: tuple[str, ...] = ()
    triggered: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def visibility(self) -> Visibility:
        """The visibility filter of the scope."""
        return Visibility(self.graph, self.scope)

    @cached_property
    def best(self) -> float:
        """The strength of the best item, by which the channel scales its gains."""
        return max(self.strengths.values(), default=0.0)

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Every run of words of the question, with accents and without."""
        return frozenset(chain.from_iterable(map(spellings, phrases_in(self.text))))

    @cached_property
    def words(self) -> list[str]:
        """The single words that may be a name."""
        return sorted(phrase for phrase in self.phrases if " " not in phrase and len(phrase) >= _WORD_CHARS)

    @cached_property
    def beginnings(self) -> list[str]:
        """The words with which a name, or a word of one, may begin."""
        return [word for word in self.words if len(word) >= _BEGINNING_CHARS and word not in _FUNCTION_WORDS]

    def names(self, name: str) -> bool:
        """Return whether the question contains this name."""
        return not self.phrases.isdisjoint(spellings(phrase_of(name)))
