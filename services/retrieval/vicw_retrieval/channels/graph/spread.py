"""What the spreads of the graph channel start from and return: the question, its anchors, and the items reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from vicw_retrieval.access.visibility import Visibility
from vicw_retrieval.model.similarity import QuerySimilarity
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_retrieval.request.hop_limit import HopLimit
from vicw_shared.model import Node
from vicw_shared.model.triggers import phrase_of, phrases_in, spellings
from vicw_shared.ports import GraphStore, NameMatch, NameQuery, Neighbour, Scope, Spread, WeightedNeighbour


@dataclass(frozen=True, slots=True)
class Anchor:
    """An item found by other channels: ``strength`` (≥ 0) is the score that it passes on, ``passages`` those found.

    ``part`` is the uid of a consolidated item, whose Macro-Event is ``uid``.
    """

    uid: str
    strength: float
    passages: tuple[str, ...]
    part: str | None = None

    @property
    def key(self) -> str:
        """The unique key: ``part``, else ``uid``."""
        return self.part or self.uid


def by_item(anchors: Iterable[Anchor]) -> list[Anchor]:
    """Return one anchor per graph node, with the best strength of the items that it represents, in their order."""
    by_uid: dict[str, Anchor] = {}
    for anchor in anchors:
        earlier = by_uid.get(anchor.uid)
        passages = (*earlier.passages, *anchor.passages) if earlier is not None else anchor.passages
        best = max(earlier.strength, anchor.strength) if earlier is not None else anchor.strength
        by_uid[anchor.uid] = Anchor(anchor.uid, best, passages)
    return list(by_uid.values())


@dataclass(frozen=True, slots=True)
class SpreadPath:
    """Path to an item: ``depth`` edges of ``edge_type`` from an anchor, with ``gain`` ≥ 0 of its strength."""

    uid: str
    gain: float
    depth: int
    edge_type: str
    sub_graph: SubGraph


@dataclass(slots=True)
class ReachedItems:
    """The reached items, each with its best path, and those of their nodes that were read."""

    paths: dict[str, SpreadPath] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)

    def add(self, path: SpreadPath) -> None:
        """Keep a path if it is the best one to its item so far."""
        earlier = self.paths.get(path.uid)
        if path.gain > 0 and (earlier is None or path.gain > earlier.gain):
            self.paths[path.uid] = path

    def add_nodes(self, nodes: Iterable[Node]) -> None:
        """Add nodes that were read."""
        self.nodes |= {node.uid: node for node in nodes}


_NAMESAKES = 8
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
    ``hop_limit`` bounds what the spreads read.
    """

    graph: GraphStore
    similarity: QuerySimilarity
    scope: Scope
    text: str
    strengths: Mapping[str, float]
    hop_limit: HopLimit
    people: tuple[str, ...] = ()
    triggered: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def visibility(self) -> Visibility:
        """The visibility filter of the scope."""
        return Visibility(self.graph, self.scope, most_edges=self.hop_limit.edges)

    async def leads(self, stage: str, uids: Sequence[str], spread: Spread, fanout: int) -> list[WeightedNeighbour]:
        """Return the heaviest edges of each node, best nodes first, within the limit of a hop."""
        return await self.hop_limit.leads(stage, self.graph, self.scope.tenant, uids, spread, fanout)

    async def visible(self, stage: str, uids: Sequence[str], spreads: Sequence[Spread], fanout: int) -> list[Neighbour]:
        """Return the heaviest visible edges of each node and spread, best nodes first, within the limit of a hop."""
        return await self.hop_limit.visible(stage, self.visibility, uids, spreads, fanout)

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

    @property
    def name_query(self) -> NameQuery:
        """The look-up of the nodes whose whole name is in the question; the request's cache answers it again."""
        return NameQuery(NameMatch.NAME, tuple(sorted(self.phrases)))

    @property
    def title_query(self) -> NameQuery:
        """The look-up of the pages whose title is in the question."""
        return self._titles(sorted(self.phrases))

    async def titled(self, phrases: Sequence[str]) -> dict[str, list[Node]]:
        """Return, by phrase, the visible Entity items with this title, a few for each."""
        if not phrases:
            return {}
        titles = [self._titles(phrases)]
        (by_phrase,) = await self.graph.find_names(self.scope.tenant, titles, contexts=self.scope.contexts)
        nodes = {node.uid: node for same in by_phrase.values() for node in same}
        visible = {node.uid for node in await self.visibility.nodes(list(nodes.values()))}
        return {phrase: [one for one in same if one.uid in visible][:_NAMESAKES] for phrase, same in by_phrase.items()}

    def _titles(self, phrases: Sequence[str]) -> NameQuery:
        limit = self.hop_limit.share(len(phrases), self.visibility.read_limit(_NAMESAKES))
        return NameQuery(NameMatch.TITLE, tuple(phrases), limit)

    def names(self, name: str) -> bool:
        """Return whether the question contains this name."""
        return not self.phrases.isdisjoint(spellings(phrase_of(name)))
