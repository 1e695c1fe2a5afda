"""Bridges of knowledge items: a sentence like the question hands over to what it names (design: "What was tried").

"The Dry is based on a novel by Jane Harper" answers half of a question; the other half stands on the page called Jane
Harper, or in the other passages that name her. Names of chats and stories are everywhere and lead nowhere, so only
Entity items hand over, and only they receive; a name that many of them share does not count.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicw_retrieval.channels.graph.reach import Anchor, Reach, Reached
from vicw_retrieval.sight import Sight
from vicw_retrieval.wanted import wanted
from vicw_shared.model import Label, Node
from vicw_shared.model.triggers import phrase_of, phrases_in
from vicw_shared.ports import Direction, GraphStore, Neighbour, ScoreQuery, VectorStore
from vicw_shared.text import fold

HANDING = 15
"""Items that hand over, at each step the best."""
_LIKE = 0.2
"""The cosine from which a statement is like the question."""
_DECAY = 0.7
"""What is left of a standing with each further step."""
_RARE = 8
"""Items that may share a name; more and it tells nothing."""
_RARE_SHARE = 0.6
_STATEMENTS = 40
_NAMES = 20
_MENTIONS_AN_ITEM = 4
"""Edges by which one item mentions one thing: its own, and those of its statements."""


@dataclass(frozen=True, slots=True)
class Bridges:
    """Hands over from item to item, for one question."""

    graph: GraphStore
    vectors: VectorStore
    sight: Sight
    query: str
    vector: NDArray[np.float32]
    hops: int

    async def reach(self, anchors: Sequence[Anchor]) -> Reached:
        """Return the Entity items that ``anchors`` lead to, each with what all steps gave it."""
        reached, asked = Reached(), set(phrases_in(self.query))
        front = sorted(anchors, key=lambda anchor: -anchor.standing)[:HANDING]
        total: dict[str, float] = {}
        for depth in range(1, self.hops + 1):
            likeness = await self._statements(front)
            if not likeness:
                break
            step = await self._step(likeness, asked, reached)
            for uid, gain in step.items():
                total[uid] = total.get(uid, 0.0) + gain
                known = reached.ways.get(uid)
                reached.ways[uid] = Reach(uid, total[uid], known.depth if known else depth, "MENTIONS")
            best = sorted(step, key=lambda uid: (-step[uid], uid))[:HANDING]
            front = [Anchor(uid, step[uid] * _DECAY, _proof(reached.nodes[uid])) for uid in best]
        return reached

    async def _statements(self, front: Sequence[Anchor]) -> dict[str, tuple[str, float]]:
        """Return the statements of these items that are like the question: of which item, and what they hand on."""
        standing = {anchor.uid: anchor.standing for anchor in front}
        owner = {passage: anchor.uid for anchor in front for passage in anchor.passages}
        tenant = self.sight.scope.tenant
        found = await self.graph.expand(tenant, list(owner), [("EVIDENCED_BY", Direction.IN)], _STATEMENTS)
        said = await self.sight.visible([neighbour for neighbour in found if neighbour.node.is_statement])
        by = {neighbour.node.uid: owner[neighbour.origin] for neighbour in said}
        (cosines,) = await self.vectors.score([ScoreQuery(ids=list(by), dense=self.vector)]) if by else ({},)
        return {uid: (by[uid], standing[by[uid]] * cosine) for uid, cosine in cosines.items() if cosine >= _LIKE}

    async def _step(
        self, likeness: Mapping[str, tuple[str, float]], asked: Collection[str], reached: Reached
    ) -> dict[str, float]:
        """Return what each item gains that the statements lead to; the best way counts, and none to itself."""
        named = await self._named(likeness, asked)
        gains: dict[str, float] = {}
        things = {neighbour.node.uid: neighbour.node for neighbour in named}
        targets = await self._targets(things, reached)
        for neighbour in named:
            item, handed = likeness[neighbour.origin]
            for uid, share in targets.get(neighbour.node.uid, {}).items():
                if uid != item:
                    gains[uid] = max(gains.get(uid, 0.0), handed * share)
        return gains

    async def _named(self, statements: Collection[str], asked: Collection[str]) -> list[Neighbour]:
        """Return the things that statements name and the question does not."""
        tenant = self.sight.scope.tenant
        found = await self.graph.expand(tenant, list(statements), [("MENTIONS", Direction.OUT)], _NAMES)
        named = await self.sight.visible([n for n in found if n.node.label is Label.ENTITY])
        return [neighbour for neighbour in named if phrase_of(neighbour.node.name) not in asked]

    async def _targets(self, things: Mapping[str, Node], reached: Reached) -> dict[str, dict[str, float]]:
        """Return, for each thing, the items called so with a share of 1, and those that name it with less."""
        scope = self.sight.scope
        names = {uid: fold(node.name) for uid, node in things.items()}
        titled = await self.graph.titled(scope.tenant, sorted({*names.values()}), contexts=scope.contexts, limit=_RARE)
        most = _RARE * _MENTIONS_AN_ITEM
        found = await self.graph.expand(scope.tenant, list(things), [("MENTIONS", Direction.IN)], most)
        sharing: dict[str, set[str]] = {}
        for neighbour in found:
            if _is_knowledge(neighbour.node):
                sharing.setdefault(neighbour.origin, set()).add(neighbour.node.uid)
        nodes = {node.uid: node for same in titled.values() for node in same}
        nodes |= {n.node.uid: n.node for n in found if _is_knowledge(n.node)}
        seen = await wanted(self.graph, scope, await self.sight.nodes(list(nodes.values())))
        reached.know(seen)
        visible = {node.uid for node in seen}
        targets: dict[str, dict[str, float]] = {}
        for uid in things:
            same_name = sharing.get(uid, set()) & visible  # what is hidden must not show in a share either
            share = _RARE_SHARE / math.log(1 + len(same_name)) if 1 < len(same_name) <= _RARE else 0.0
            ways = dict.fromkeys(same_name, share) if share else {}
            ways |= {node.uid: 1.0 for node in titled.get(names[uid], ()) if node.uid in visible}
            targets[uid] = ways
        return targets


def _is_knowledge(node: Node) -> bool:
    return node.label is Label.ENTITY and node.content_hash is not None


def _proof(node: Node) -> tuple[str, ...]:
    return (node.qdrant_id,) if node.qdrant_id is not None else ()
