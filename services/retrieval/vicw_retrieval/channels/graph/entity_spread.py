"""Entity spread: a statement similar to the question passes its score to the pages that it names.

"The Dry is based on a novel by Jane Harper" answers half of a question. The other half is on the page "Jane Harper", or
in another passage that mentions her. Names in chats and stories are too frequent to lead anywhere, so only Entity items
pass on and receive scores. A receiver gains more, the better it covers the query terms that the statement leaves
uncovered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from vicw_core.index import sparse
from vicw_retrieval.access.visibility import filter_results
from vicw_retrieval.channels.graph.spread import Anchor, ReachedItems, SpreadContext, SpreadPath
from vicw_retrieval.model.similarity import QuerySimilarity, rarest
from vicw_retrieval.ranking.fusion import SubGraph
from vicw_shared.model import Label, Node
from vicw_shared.model.triggers import phrase_of, spellings
from vicw_shared.ports import Direction, WeightedNeighbour

BRIDGES = "bridges"
SHARE = 0.25
"""Part of a passed-on score that depends on whether the receiver has the uncovered terms."""


class UncoveredTerms:
    """Weighs receivers by the uncovered terms of one question."""

    def __init__(self, similarity: QuerySimilarity) -> None:
        self._similarity = similarity

    async def cover_factor(
        self, sentences: Mapping[str, str], targets: Mapping[str, Sequence[str]]
    ) -> Callable[[str, str], float]:
        """Return the factor by which a target takes a sentence's score: 1 − SHARE to 1 + SHARE.

        ``targets`` are items with their passages. A target with all terms that the sentence lacks gets 1 + SHARE.
        """
        rarity = rarest(self._similarity)
        terms_of = await self._terms_of(list(rarity), targets)
        missing = {uid: frozenset(rarity).difference(sparse.document_terms(text)) for uid, text in sentences.items()}
        totals = {uid: sum(rarity[term] for term in terms) for uid, terms in missing.items()}

        def factor(sentence: str, target: str) -> float:
            if not totals[sentence]:
                return 1 - SHARE
            covered = sum(rarity[term] for term in missing[sentence] & terms_of.get(target, frozenset()))
            return 1 - SHARE + 2 * SHARE * covered / totals[sentence]

        return factor

    async def _terms_of(self, terms: Sequence[int], targets: Mapping[str, Sequence[str]]) -> dict[str, frozenset[int]]:
        """Return which of the terms each target has."""
        owner = {passage: uid for uid, passages in targets.items() for passage in passages}
        has: dict[str, frozenset[int]] = {}
        for passage, passage_terms in (await self._similarity.words(list(owner), terms)).items():
            has[owner[passage]] = has.get(owner[passage], frozenset()) | passage_terms
        return has


MAX_SENDERS = 15
"""Maximum items that pass on their score at each hop, the best."""
_MIN_SIMILARITY = 0.2
"""Minimum similarity of a statement to the question: a cosine, or a share of words."""
_NAMED_SIMILARITY = 0.6
"""Minimum similarity given to statements of a page that the question names: they are on its subject in any words."""
_DECAY = 0.7
"""Factor on the strength at each further hop."""
_TITLE_SHARE = 0.8
"""Minimum share of a page whose title contains the name."""
_RARE = 8
"""Maximum items that share a name at full share; with more, an item's share depends on its own strength."""
_STATEMENTS = 40
_NAMES = 20
_MENTIONS = 64
_MAX_READ = 200


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A statement similar to the question: its item, the score that it passes on, and its text."""

    item: str
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class _EntityPath:
    """Path from a statement over a name to an item, which gets ``share`` of the score passed on."""

    sentence: str
    target: str
    share: float


class EntitySpread:
    """Passes scores from item to item, for one question."""

    def __init__(self, question: SpreadContext, hops: int, named: Collection[str] = ()) -> None:
        """Spread over ``hops`` hops; ``named`` are the uids of the pages whose titles are in the question."""
        self._question = question
        self._hops = hops
        self._named = named
        self._tenant = question.scope.tenant
        self._uncovered = UncoveredTerms(question.similarity)

    async def reach(self, anchors: Sequence[Anchor], reached: ReachedItems) -> None:
        """Add the Entity items that ``anchors`` lead to, each with its gains summed over all hops."""
        total: dict[str, float] = {}
        front = sorted(anchors, key=lambda anchor: (-anchor.strength, anchor.uid))[:MAX_SENDERS]
        for depth in range(1, self._hops + 1):
            sentences = await self._sentences(front)
            gains = await self._step(sentences, reached) if sentences else {}
            for uid, gain in gains.items():
                total[uid] = total.get(uid, 0.0) + gain
                earlier = reached.paths.get(uid)
                reached.paths[uid] = SpreadPath(
                    uid, total[uid], earlier.depth if earlier else depth, "MENTIONS", SubGraph.KNOWLEDGE
                )
            best = sorted(gains, key=lambda uid: (-gains[uid], uid))[:MAX_SENDERS]
            front = [Anchor(uid, gains[uid] * _DECAY, _passages(reached.nodes[uid])) for uid in best]

    async def _sentences(self, front: Sequence[Anchor]) -> dict[str, _Sentence]:
        """Return the statements of these items that are similar to the question."""
        question = self._question
        strengths = {anchor.uid: anchor.strength for anchor in front}
        owner = {passage: anchor.uid for anchor in front for passage in anchor.passages}
        spread = [("EVIDENCED_BY", Direction.IN)]
        neighbours = await question.visible(BRIDGES, list(owner), spread, _STATEMENTS)
        statements = [neighbour for neighbour in neighbours if neighbour.node.is_statement]
        nodes = {neighbour.node.uid: (owner[neighbour.origin], neighbour.node) for neighbour in statements}
        cosines = await question.similarity.similarities(list(nodes))
        scored = {uid: (*nodes[uid], self._similarity(nodes[uid][0], cosine)) for uid, cosine in cosines.items()}
        similar = {uid: one for uid, one in scored.items() if one[2] >= _MIN_SIMILARITY}
        return {
            uid: _Sentence(item, strengths[item] * cosine, node.text or "")
            for uid, (item, node, cosine) in similar.items()
        }

    def _similarity(self, item: str, cosine: float) -> float:
        """Return the similarity of a statement to the question."""
        return max(cosine, _NAMED_SIMILARITY) if item in self._named else cosine

    async def _step(self, sentences: Mapping[str, _Sentence], reached: ReachedItems) -> dict[str, float]:
        """Return the gain of each item that the sentences lead to, by its best path; no item gains from itself."""
        paths = await self._paths(sentences)
        paths = [path for path in paths if path.target != sentences[path.sentence].item]
        scores = {path: sentences[path.sentence].score * path.share for path in paths}
        best = sorted(paths, key=lambda path: (-scores[path], path.target, path.sentence))
        targets = list(dict.fromkeys(path.target for path in best))[:_MAX_READ]
        nodes = await self._question.graph.nodes(self._tenant, targets)
        seen = await self._question.visibility.nodes(list(nodes.values()))
        receivers = await filter_results(self._question.graph, self._question.scope, seen)
        reached.add_nodes(receivers)
        factor = await self._uncovered.cover_factor(
            {uid: one.text for uid, one in sentences.items()}, {node.uid: _passages(node) for node in receivers}
        )
        gains: dict[str, float] = {}
        for path in best:
            if path.target in reached.nodes:
                gain = scores[path] * factor(path.sentence, path.target)
                gains[path.target] = max(gains.get(path.target, 0.0), gain)
        return gains

    async def _paths(self, sentences: Mapping[str, _Sentence]) -> list[_EntityPath]:
        """Return the paths over names that are in the sentences but not in the question."""
        best = sorted(sentences, key=lambda uid: (-sentences[uid].score, uid))
        leads = await self._question.leads(BRIDGES, best, ("MENTIONS", Direction.OUT), _NAMES)
        entities = [lead for lead in leads if lead.label is Label.ENTITY and not self._question.names(lead.name)]
        entities.sort(key=lambda lead: (-sentences[lead.origin].score, lead.origin, lead.uid))
        names = {lead.uid: phrase_of(lead.name) for lead in entities}
        phrases = sorted(set(chain.from_iterable(map(spellings, names.values()))))
        pages = await self._question.titled(phrases)
        mentions = await self._mentions(list(names))
        shares = {uid: self._shares(name, mentions.get(uid, ())) for uid, name in names.items()}
        for uid, name in names.items():
            shares[uid] |= {node.uid: 1.0 for one in spellings(name) for node in pages.get(one, ())}
        return [
            _EntityPath(lead.origin, target, share) for lead in entities for target, share in shares[lead.uid].items()
        ]

    async def _mentions(self, entities: Sequence[str]) -> dict[str, list[WeightedNeighbour]]:
        """Return the visible Entity items that mention each thing."""
        leads = await self._question.leads(BRIDGES, entities, ("MENTIONS", Direction.IN), _MENTIONS)
        by_entity: dict[str, dict[str, WeightedNeighbour]] = {}
        travels = self._question.scope.travels  # what is replaced now counted then
        for lead in leads:
            if lead.is_item and lead.label is Label.ENTITY and (lead.is_live or travels):
                by_entity.setdefault(lead.origin, {})[lead.uid] = lead
        visible = await self._visible({lead.uid for items in by_entity.values() for lead in items.values()})
        return {uid: [lead for lead in items.values() if lead.uid in visible] for uid, items in by_entity.items()}

    async def _visible(self, items: set[str]) -> set[str]:
        """Keep the visible items: the number that shares a name must not reveal invisible ones."""
        question = self._question
        if question.scope.audience is None:
            return items
        nodes = await question.graph.nodes(self._tenant, sorted(items))
        return {node.uid for node in await question.visibility.nodes(list(nodes.values()))}

    def _shares(self, name: str, items: Sequence[WeightedNeighbour]) -> dict[str, float]:
        """Return the share of each item that mentions a thing."""
        phrase, question = f" {phrase_of(name)} ", self._question
        spread = 1 / math.log(1 + len(items)) if len(items) > 1 else 0.0
        shares: dict[str, float] = {}
        for lead in items:
            factor = 1.0 if len(items) <= _RARE else 2 * question.strengths.get(lead.uid, 0.0) / (question.best or 1.0)
            share = spread * factor
            if phrase in f" {phrase_of(lead.name)} ":
                share = max(share, _TITLE_SHARE)
            if share > 0:
                shares[lead.uid] = share
        return shares


def _passages(node: Node) -> tuple[str, ...]:
    return (node.qdrant_id,) if node.qdrant_id is not None else ()
