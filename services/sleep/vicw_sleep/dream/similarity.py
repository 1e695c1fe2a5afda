"""Find similar items of the same context, domain and visibility.

Vectors propose them, and words have to agree: what a model cannot read has the vector of anything else that it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vicw_core.index.shared_words import shares_a_word, words_of
from vicw_shared.ports import Scope, Store, VectorQuery, VectorStore
from vicw_sleep.mirror.atoms import Atom, atom_of

FLOOR = 0.35
"""Cosine of two unrelated texts, as where bridges are drawn."""
_HITS = 16
_MIN_CERTAINTY = 0.4
"""Minimum similarity of an item that counts as evidence."""


@dataclass(frozen=True, slots=True)
class SimilarItem:
    """A similar item: ``certainty`` in [0, 1] that both have the same topic."""

    atom: Atom
    certainty: float


def certainty_of(cosine: float) -> float:
    """Return how far a cosine is above FLOOR, as a share of the range above it: in [0, 1].

    >>> certainty_of(0.35), certainty_of(0.2), certainty_of(1.0)
    (0.0, 0.0, 1.0)
    """
    return max(0.0, min(1.0, (cosine - FLOOR) / (1 - FLOOR)))


def same_visibility(left: Atom, right: Atom) -> bool:
    """Return whether two items have the same context, domain and visibility."""
    return visibility_key(left) == visibility_key(right)


def visibility_key(atom: Atom) -> tuple[object, ...]:
    """Return an item's context, domain, and the fields that decide about its visibility."""
    item = atom.item
    return item.tenant, item.context, item.domain, item.sensitivity, item.portable, atom.about


@dataclass(frozen=True, slots=True)
class SimilarityIndex:
    """Searches for similar items."""

    graph: Store
    vectors: VectorStore
    now: datetime

    async def of(self, atoms: Sequence[Atom]) -> dict[str, list[SimilarItem]]:
        """Return, by uid, the items similar to each of these items of one tenant, the most similar first.

        A similar item has a word in common with it. An item whose first passage has no vector (yet) is left out.
        """
        own = {atom.item.qdrant_id: atom for atom in atoms if atom.item.qdrant_id is not None}
        vectors = await self.vectors.dense(list(own))
        hits: dict[str, dict[str, float]] = {}
        for point, vector in vectors.items():
            item = own[point].item
            scope = Scope(tenant=item.tenant, now=self.now, contexts=(item.context,), domains=(item.domain,))
            query = VectorQuery(scope=scope, limit=_HITS, dense=vector, without=(item.uid,))
            results = await self.vectors.search(query)
            hits[item.uid] = {hit.id: certainty_of(hit.score) for hit in results}
        alike = await self._items(atoms[0].item.tenant, hits) if hits else {}
        words = {atom.item.uid: words_of(atom.text) for atom in atoms if atom.item.uid in alike}
        return {uid: [one for one in found if shares_a_word(words[uid], one.atom.text)] for uid, found in alike.items()}

    async def _items(self, tenant: str, hits: Mapping[str, Mapping[str, float]]) -> dict[str, list[SimilarItem]]:
        near = {
            uid: {hit: certainty for hit, certainty in certainties.items() if certainty >= _MIN_CERTAINTY}
            for uid, certainties in hits.items()
        }
        owners = await self.graph.owners(tenant, sorted({hit for certainties in near.values() for hit in certainties}))
        views = await self.graph.item_views(tenant, sorted({owner.uid for owner in owners.values()}))
        atoms = {one.item.uid: atom for one in views if (atom := atom_of(one)) is not None}
        alike: dict[str, list[SimilarItem]] = {}
        for uid, certainties in near.items():
            best: dict[str, float] = {}
            for hit, certainty in certainties.items():
                other = owners[hit].uid if hit in owners else uid
                best[other] = max(certainty, best.get(other, 0.0))
            others = [
                SimilarItem(atoms[other], certainty)
                for other, certainty in best.items()
                if other != uid and other in atoms
            ]
            alike[uid] = sorted(others, key=lambda one: (-one.certainty, one.atom.item.uid))
        return alike
