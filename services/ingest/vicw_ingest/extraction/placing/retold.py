"""Events that several items of a flow tell of: in the same words, or in others that tell what happened to what.

The uid of such an event is made of what its tellings have in common, so that finding it takes one look-up by uid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from vicw_ingest.extraction.placing.model import Place
from vicw_ingest.extraction.reading import Gist, Happening
from vicw_shared.model import Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold
from vicw_shared.uids import make_uid

_ARTICLES = frozenset({"a", "an", "the"})
_POINTING = frozenset(
    "i me my we us our you your he him his she her it its they them their this that these those here there now then "
    "today yesterday tomorrow which who".split()
)
_FEWEST_WORDS = 3
_WITHIN = timedelta(days=2)
"""How long after an event was told other words may tell of it: what breaks a week later is another failure."""
_DESCRIBED, _TOLD, _AT = "described", "told", "at"
"""Metadata of an event: what describes it, null where several are told of by one gist; when it was told; its time."""
TIMES = frozenset({_TOLD, _AT})
"""Metadata that are times, not words of a text."""


class Retold:
    """The events that items of one request tell of, among those that are stored."""

    def __init__(self, transaction: GraphTransaction) -> None:
        self._transaction = transaction
        self._known: dict[str, Node] = {}

    async def uid_of(self, happening: Happening, place: Place) -> tuple[str | None, Node | None]:
        """Return the uid of what is told, None if no other item's telling can be of it; and an event to store anew.

        That one is what another telling was taken for until now: of several, who could tell which is meant?
        """
        if not place.shares_events:
            return None, None
        words = words_of(happening.text)
        flow = (place.item.tenant, place.item.context, "event", place.item.flow_id or "")
        same = make_uid(*flow, " ".join(words)) if len(words) >= _FEWEST_WORDS and _POINTING.isdisjoint(words) else None
        gist = happening.gist
        if gist is None or place.item.flow_id is None or not _POINTING.isdisjoint(words):
            return same, None
        if same is not None and await self._live(same) is not None:
            return same, None
        told = make_uid(*flow, "gist", gist.key)
        known = await self._live(told)
        if known is None or _is_of(known, gist, place.item.timestamp):
            return told, None
        return same, _of_several(known)

    def note(self, node: Node) -> None:
        """Have an event known that is about to be stored; the first that is told of it stays."""
        self._known.setdefault(node.uid, node)

    def correct(self, node: Node) -> None:
        """Have an event known as it is to be stored anew."""
        self._known[node.uid] = node

    async def _live(self, uid: str) -> Node | None:
        if uid not in self._known:
            found = (await self._transaction.nodes([uid])).get(uid)
            if found is None or found.retired_at is not None:
                return None
            self._known[uid] = found
        return self._known[uid]


def metadata_of(gist: Gist | None, at: datetime | None) -> Mapping[str, object]:
    """Return what an event remembers, so that what is told later can be compared with it."""
    if gist is None:
        return {}
    return {_DESCRIBED: sorted(gist.described), _TOLD: _written(at), _AT: _written(gist.at)}


def _is_of(known: Node, gist: Gist, at: datetime | None) -> bool:
    """Tell whether what is told at a moment may be an event that is known."""
    described, told = known.metadata.get(_DESCRIBED), known.metadata.get(_TOLD)
    if not isinstance(described, list) or (at is None) != (told is None):
        return False
    which = frozenset(map(str, described))
    if not (which <= gist.described or gist.described <= which):
        return False
    if gist.at is not None and known.metadata.get(_AT) != _written(gist.at):
        return False
    return at is None or abs(at - datetime.fromisoformat(str(told))) <= _WITHIN


def _of_several(known: Node) -> Node | None:
    if known.metadata.get(_DESCRIBED) is None:
        return None
    return replace(known, metadata={**known.metadata, _DESCRIBED: None})


def _written(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None


def is_told(event: Node, passage: Node) -> bool:
    """Tell whether an event is by whom, and of when, a passage is."""
    same = event.speaker == passage.speaker and told_at(event, passage).items() <= event.metadata.items()
    return same and (not event.timestamp_inferred or event.timestamp == passage.timestamp)


def told_at(event: Node, passage: Node) -> Mapping[str, object]:
    """Return what an event remembers of when it was told, as of a passage; nothing, if it remembers none."""
    return {_TOLD: _written(passage.timestamp)} if _TOLD in event.metadata else {}


def described_by(event: Node, passages: Sequence[Node]) -> Mapping[str, object]:
    """Return what an event remembers of what describes it, as far as one of these passages says it."""
    described = event.metadata.get(_DESCRIBED)
    if not isinstance(described, list):
        return {}
    said = {word for passage in passages for word in words_of(passage.text or "")}
    return {_DESCRIBED: [one for one in described if said.issuperset(words_of(str(one)))]}


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded, without its articles."""
    return [word for word in re.findall(r"\w+", fold(text)) if word not in _ARTICLES]
