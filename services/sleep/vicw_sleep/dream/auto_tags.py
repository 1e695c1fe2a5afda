"""Select the auto-tags of an item: from its key phrases, and from the tags that callers gave to similar items."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from vicw_core.graph.dreams import is_dreamt
from vicw_core.index.term_weights import rarity
from vicw_shared.model import Node
from vicw_shared.ports import Direction, Extractor, GraphStore, look_up
from vicw_shared.text import fold_case
from vicw_sleep.dream.key_phrases import KeyPhrase, key_phrases, terms_of
from vicw_sleep.dream.similarity import SimilarItem, same_visibility
from vicw_sleep.mirror.atoms import Atom

GENERIC = 40
"""Maximum items of a tag that auto-tagging adds to: beyond it a tag is generic, and the tag walk would skip it (50)."""
_READ_CHARS = 2000
_NEIGHBOURS = 5
_SHARED = 0.5
"""Certainty that a phrase leads to other items, without further evidence."""
_NAMES = 100
PHRASE, NEIGHBOURS = "key phrase", "tags of what it is like"


@dataclass(frozen=True, slots=True)
class Tag:
    """An auto-tag: its folded name, its certainty in [0, 1], and the reason for it."""

    name: str
    certainty: float
    reason: str


def choose(
    phrases: Sequence[KeyPhrase],
    alike: Sequence[SimilarItem],
    *,
    taken: Collection[str],
    in_use: Collection[str],
) -> list[Tag]:
    """Return the candidate tags, the most certain first, except those ``taken`` (folded names).

    The certainties that support a tag are combined as ``1 - Π(1 - c)``: that of a key phrase; .5 if it is a tag of the
    context already (``in_use``) or one of the five most similar items contains it; and the similarity of each of these
    items that a caller tagged so. Auto-tags never support others: a guess is no evidence.
    """
    near = alike[:_NEIGHBOURS]
    texts = [fold_case(other.atom.text) for other in near]
    doubts: dict[str, float] = defaultdict(lambda: 1.0)
    reasons: dict[str, str] = {}
    for phrase in phrases:
        doubts[phrase.text] *= 1 - phrase.certainty
        reasons[phrase.text] = PHRASE
    for name in doubts:
        if name in in_use or any(name in text for text in texts):
            doubts[name] *= 1 - _SHARED
    for other in near:
        for name in {fold_case(tag) for tag in other.atom.tags}:
            doubts[name] *= 1 - other.certainty
            reasons.setdefault(name, NEIGHBOURS)
    tags = [Tag(name, round(1 - doubt, 4), reasons[name]) for name, doubt in doubts.items() if name not in taken]
    return sorted(tags, key=lambda tag: (-tag.certainty, tag.name))


@dataclass(frozen=True, slots=True)
class AutoTagger:
    """Collects the evidence for tags. Without an ``extractor`` there are no key phrases."""

    graph: GraphStore
    extractor: Extractor | None

    async def of(self, atoms: Sequence[Atom], alike: Mapping[str, Sequence[SimilarItem]]) -> dict[str, list[Tag]]:
        """Return, by uid, the candidate tags of each of these items of one tenant and context.

        Code has no key phrases. What an item mentions, and its speaker, are joined to it already and are not tags.
        """
        phrase_counts = await asyncio.to_thread(self._candidate_phrases, [atom for atom in atoms if not atom.is_code])
        terms = sorted({term for counts in phrase_counts.values() for phrase in counts for term in terms_of(phrase)})
        idf = await self._rarity(atoms[0].item, terms) if terms else {}
        phrases = {uid: key_phrases(counts, idf) for uid, counts in phrase_counts.items()}
        names = {name for counts in phrase_counts.values() for name in counts}
        in_use = await self._in_use(atoms, names)
        linked = await self._linked_names(atoms)
        return {
            atom.item.uid: choose(
                phrases.get(atom.item.uid, ()),
                [one for one in alike.get(atom.item.uid, ()) if same_visibility(atom, one.atom)],
                taken=linked[atom.item.uid] | {fold_case(tag) for tag in (*atom.tags, *atom.auto_tags)},
                in_use=in_use,
            )
            for atom in atoms
        }

    async def _rarity(self, item: Node, terms: Sequence[int]) -> dict[int, float]:
        # In a context of one item every word is in all of them, and may be a tag all the same.
        return rarity(terms, await self.graph.frequencies(item.tenant, [item.context], terms), most=0.5)

    async def _in_use(self, atoms: Sequence[Atom], phrases: Collection[str]) -> set[str]:
        context = atoms[0].item.context if atoms else ""
        nodes_by_name = (
            await look_up(self.graph, atoms[0].item.tenant, sorted(phrases), limit=_NAMES) if phrases else {}
        )
        return {name for name, nodes in nodes_by_name.items() if any(_is_tag(node, context) for node in nodes)}

    async def _linked_names(self, atoms: Sequence[Atom]) -> dict[str, set[str]]:
        """Return the folded names of each item's speaker, and of everything it mentions."""
        names = {atom.item.uid: {fold_case(atom.item.speaker or "")} for atom in atoms}
        spread = [("MENTIONS", Direction.OUT)]
        for neighbour in await self.graph.expand(atoms[0].item.tenant, list(names), spread, _NAMES) if atoms else ():
            names[neighbour.origin] |= set(map(fold_case, (neighbour.node.name, *neighbour.node.aliases)))
        return names

    def _candidate_phrases(self, atoms: Sequence[Atom]) -> dict[str, Mapping[str, int]]:
        if self.extractor is None:
            return {}
        found = self.extractor.noun_phrases([atom.text[:_READ_CHARS] for atom in atoms])
        return {atom.item.uid: Counter(phrases) for atom, phrases in zip(atoms, found, strict=True)}


def _is_tag(node: Node, context: str) -> bool:
    return node.context == context and fold_case(node.subtype) == "tag" and not is_dreamt(node)
