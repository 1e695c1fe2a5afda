"""Whom *she* or *he* means where a text has named nobody yet: somebody of whom the item before speaks.

Rather nobody than the wrong one: of two who may be meant, it is the one whom somebody has as a sister, a father, …
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vicw_ingest.extraction.placing.model import Place
from vicw_ingest.extraction.placing.relatives import Relatives
from vicw_ingest.extraction.reading import HE, SHE, Reading
from vicw_shared.model import Label, Node, Sensitivity
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold

_GENDERS = {HE: "m", SHE: "f"}


class Pronouns:
    """The people of whom the items of one request speak."""

    def __init__(self, transaction: GraphTransaction, relatives: Relatives) -> None:
        self._transaction = transaction
        self._relatives = relatives
        self._spoken_of: dict[str, list[Node]] = {}

    def note(self, item: Node, named: Iterable[Node]) -> None:
        """Note of whom an item speaks."""
        self._spoken_of[item.uid] = _people(named)

    async def meant(self, place: Place) -> dict[str, Node | None]:
        """Return whom the pronouns of a text mean, by their keys."""
        wanted, before = _GENDERS.keys() & ends_of(place.reading), place.previous
        if not wanted or before is None or not (_is_public(before) and _is_public(place.item)):
            return {}
        people = [node for node in await self._of(before) if place.speaker is None or node.uid != place.speaker.uid]
        return {key: await self._one(people, _GENDERS[key]) for key in wanted}

    async def _of(self, item: Node) -> list[Node]:
        if item.uid not in self._spoken_of:
            edges = await self._transaction.edges([item.uid], ("MENTIONS",), Direction.OUT)
            found = await self._transaction.nodes(sorted({edge.target for edge in edges}))
            self.note(item, [node for node in found.values() if node.retired_at is None])
        return self._spoken_of[item.uid]

    async def _one(self, people: Sequence[Node], gender: str) -> Node | None:
        known = await self._relatives.genders(people)
        sure = [node for node in people if known.get(node.uid) == gender]
        fitting = sure or [node for node in people if node.uid not in known]
        return fitting[0] if len(fitting) == 1 else None


def ends_of(reading: Reading) -> set[str]:
    """Return the keys of all that a text's links, relatives and claims are of."""
    ends = {end for link in reading.links for end in (link.source, link.target)}
    return ends | {kin.whose for kin in reading.kin} | {said.whose for said in reading.asserted if said.whose}


def _people(nodes: Iterable[Node]) -> list[Node]:
    people = (node for node in nodes if node.label is Label.ENTITY and fold(node.subtype) == "person")
    return list({node.uid: node for node in people}.values())


def _is_public(item: Node) -> bool:
    return item.sensitivity is Sensitivity.PUBLIC and item.portable and item.expires_at is None
