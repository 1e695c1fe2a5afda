"""Who and what is known by a name, as a request goes on: what is stored, and what its own texts have named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from vicw_ingest.extraction.placing.meaning import GUESSES, PEOPLE, besides_users, fits, likeness, natural_name
from vicw_ingest.extraction.reading import Reading, Thing
from vicw_shared.language.tokens import Span
from vicw_shared.merging import canonical_nodes
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold
from vicw_shared.uids import named_uid

_FOUND_BY_FORM = frozenset({"name", "symbol", "amount", "date", "handle"})


class Known:
    """What names mean to one request."""

    def __init__(self, transaction: GraphTransaction, now: datetime, root: Node, hub_edges: int) -> None:
        self._transaction = transaction
        self._now = now
        self._root = root
        self._hub_edges = hub_edges
        self.given: dict[str, Node] = {}  # files by their folded paths: pages that are being filed
        self.hubs: set[str] = set()  # common words: they tell nothing apart
        self._known: dict[str, list[Node]] = {}
        self._parts: dict[str, set[str]] = {}  # full names of people by their words

    async def look_up(self, names: Iterable[str], readings: Iterable[Reading]) -> None:
        """Find out what is known by these names, and by those that these texts name."""
        wanted = {fold(name) for name in names}
        wanted |= {fold(thing.name) for reading in readings for thing in reading.things}
        known = await self._transaction.named(sorted(wanted))
        # Somebody is called by a part of the name, where it is one person's alone.
        parts = [name for name in sorted(wanted - known.keys()) if name.isalpha()]
        partly = await self._transaction.named(parts, word=True)
        found = [node for nodes in (*known.values(), *partly.values()) for node in nodes]
        stands_for = await canonical_nodes(self._transaction, found, within=self._root.context)
        for name, nodes in {**known, **partly}.items():
            meant = besides_users({(node := stands_for[same.uid]).uid: node for same in nodes}.values())
            if name in known or (len(meant) == 1 and fold(meant[0].subtype) in PEOPLE):
                self._known[name] = meant
        common = [uid for uid, node in stands_for.items() if fold(node.subtype) in _FOUND_BY_FORM]
        degrees = await self._transaction.degrees(common)
        self.hubs = {uid for uid, degree in degrees.items() if degree >= self._hub_edges}

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of somebody who speaks: one that is known by the name, else a new one."""
        node = self.named(Thing("", name, Label.ENTITY, None, subtype, Span(0, 0)))
        assert node is not None
        return node

    def introduce(self, person: Node) -> None:
        """Take a name for this person alone from now on."""
        self._known[fold(person.name)] = [person]

    def node(self, uid: str) -> Node | None:
        """Return what is known by any of the request's names, by its uid."""
        return next((node for nodes in self._known.values() for node in nodes if node.uid == uid), None)

    def named(self, thing: Thing) -> Node | None:
        """Return the node that a name means: one that is known by it, else a new one."""
        if thing.kind == FILE and (page := self.given.get(fold(thing.name))) is not None:
            return page
        known = self._known.setdefault(self._full_name(thing), [])
        fitting = [node for node in known if fits(thing, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and thing.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # which of them is meant is not certain
        if fitting:
            best = min(fitting, key=likeness)
            if best.subtype in GUESSES and thing.guess not in GUESSES:
                best = _instead(known, best, replace(best, subtype=thing.guess, source=thing.scope))
            if best.text is None and thing.description is not None:
                best = _instead(known, best, replace(best, text=thing.description))
            return best
        if thing.only_known:
            return None
        node = Node(
            uid=named_uid(self._root.tenant, self._root.context, thing.guess, natural_name(thing)),
            label=thing.label,
            tenant=self._root.tenant,
            context=self._root.context,
            name=thing.name,
            title=thing.name,
            text=thing.description,
            source=thing.scope,
            subtype=thing.guess,
            domain=self._root.domain,
            created_at=self._now,
        )
        known.append(node)
        words = fold(thing.name).split()
        if thing.guess == "person" and len(words) > 1:
            self._parts.setdefault(words[-1], set()).add(" ".join(words))
        return node

    def _full_name(self, thing: Thing) -> str:
        """Return the folded name; of somebody new who is called by a part of one person's name, that name."""
        name = fold(thing.name)
        full = self._parts.get(name, set())
        return next(iter(full)) if thing.kind is None and name not in self._known and len(full) == 1 else name


def _instead(known: list[Node], old: Node, new: Node) -> Node:
    known.remove(old)
    known.append(new)
    return new
