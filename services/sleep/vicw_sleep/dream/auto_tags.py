"""Which auto-tags an item gets: of its own key phrases, and of the tags that people gave to what it is like."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.dreams import is_dreamt
from vicw_shared.model import Node
from vicw_shared.ports import Direction, GraphStore, VectorStore, look_up
from vicw_shared.text import fold_case
from vicw_sleep.dream.key_phrases import KeyPhrase, analyst, candidates, key_phrases, terms_of
from vicw_sleep.dream.similarity import SimilarItem, same_visibility
from vicw_sleep.mirror.atoms import Atom

GENERIC = 40
"""Items of one tag from which it gets no more: it tells nothing, and the tag walk would leave it out (50)."""
_READ_CHARS = 2000
_NEIGHBOURS = 5
_SHARED = 0.5
"""How sure a phrase is that leads on to something else, were there nothing more that speaks for it."""
_NAMES = 100
PHRASE, NEIGHBOURS = "key phrase", "tags of what it is like"


@dataclass(frozen=True, slots=True)
class Tag:
    """An auto-tag: its folded name, how sure it is in [0, 1], and what it rests on."""

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
    """Return the tags that speak for themselves, the surest first, but for those ``taken``: names, folded.

    Certainties of what speaks for one tag are joined as ``1 - Π(1 - c)``: that of a key phrase, .5 where it is a tag of
    the context already (``in_use``) or one of the five likest items says it, too, and the likeness of each of these
    that a person tagged so.
    Auto-tags never lead to others: a guess is no evidence.
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
    """Reads what speaks for tags."""

    graph: GraphStore
    vectors: VectorStore

    async def of(self, atoms: Sequence[Atom], alike: Mapping[str, Sequence[SimilarItem]]) -> dict[str, list[Tag]]:
        """Return, by uid, the tags that speak for themselves of each of these items of one tenant and context.

        Code has no key phrases. What an item mentions, or who says it, is joined to it already and is no tag.
        """
        said = await asyncio.to_thread(_said, [atom for atom in atoms if not atom.is_code])
        terms = sorted({term for found in said.values() for phrase in found for term in terms_of(phrase)})
        idf = dict(zip(terms, await self.vectors.idf(terms), strict=True)) if terms else {}
        phrases = {uid: key_phrases(found, idf) for uid, found in said.items()}
        names = {name for found in said.values() for name in found}
        in_use = await self._in_use(atoms, names)
        joined = await self._joined(atoms)
        return {
            atom.item.uid: choose(
                phrases.get(atom.item.uid, ()),
                [one for one in alike.get(atom.item.uid, ()) if same_visibility(atom, one.atom)],
                taken=joined[atom.item.uid] | {fold_case(tag) for tag in (*atom.tags, *atom.auto_tags)},
                in_use=in_use,
            )
            for atom in atoms
        }

    async def _in_use(self, atoms: Sequence[Atom], phrases: Collection[str]) -> set[str]:
        context = atoms[0].item.context if atoms else ""
        found = await look_up(self.graph, atoms[0].item.tenant, sorted(phrases), limit=_NAMES) if phrases else {}
        return {name for name, nodes in found.items() if any(_is_tag(node, context) for node in nodes)}

    async def _joined(self, atoms: Sequence[Atom]) -> dict[str, set[str]]:
        """Return the folded names of who says each item, and of all that it mentions."""
        names = {atom.item.uid: {fold_case(atom.item.speaker or "")} for atom in atoms}
        spread = [("MENTIONS", Direction.OUT)]
        for one in await self.graph.expand(atoms[0].item.tenant, list(names), spread, _NAMES) if atoms else ():
            names[one.origin] |= set(map(fold_case, (one.node.name, *one.node.aliases)))
        return names


def _said(atoms: Sequence[Atom]) -> dict[str, Mapping[str, int]]:
    analysed = analyst().analyse([atom.text[:_READ_CHARS] for atom in atoms])
    return {atom.item.uid: candidates(found) for atom, found in zip(atoms, analysed, strict=True)}


def _is_tag(node: Node, context: str) -> bool:
    return node.context == context and fold_case(node.subtype) == "tag" and not is_dreamt(node)
