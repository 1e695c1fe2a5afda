"""Context of the question shared by the spreads of the graph channel."""

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
"""Characters of a word with which the name of somebody or something may begin."""
_LITTLE = frozenset(
    "about above after again along among because before behind being below between could doing during every might never"
    " other shall should since still their theirs there these things those through under until using where which while"
    " whose within without would".split()
)
"""Words that mean no name, however it begins."""


@dataclass(frozen=True)
class Question:
    """A question and the engines that know more.

    ``standings`` are what the other channels give the items that they found, ≥ 0. ``people`` are the folded names and
    uids of those who take part; ``triggered`` the items that the question has a trigger phrase of, each with its
    passage.
    """

    graph: GraphStore
    likeness: QuerySimilarity
    scope: Scope
    text: str
    strengths: Mapping[str, float]
    people: tuple[str, ...] = ()
    triggered: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def visibility(self) -> Visibility:
        """What the asker may see."""
        return Visibility(self.graph, self.scope)

    @cached_property
    def best(self) -> float:
        """The standing of the best item, the measure of all that the channel gives."""
        return max(self.strengths.values(), default=0.0)

    @cached_property
    def phrases(self) -> frozenset[str]:
        """Every run of words that the question has, with its accents and without."""
        return frozenset(chain.from_iterable(map(spellings, phrases_in(self.text))))

    @cached_property
    def words(self) -> list[str]:
        """The words by which something may be called."""
        return sorted(phrase for phrase in self.phrases if " " not in phrase and len(phrase) >= _WORD_CHARS)

    @cached_property
    def beginnings(self) -> list[str]:
        """The words with which a name, or a word of one, may begin."""
        return [word for word in self.words if len(word) >= _BEGINNING_CHARS and word not in _LITTLE]

    def names(self, name: str) -> bool:
        """Tell whether the question has this name."""
        return not self.phrases.isdisjoint(spellings(phrase_of(name)))
