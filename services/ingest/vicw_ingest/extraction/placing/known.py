"""Who and what is known by a name, as a request goes on: what is stored, and what its own texts have named."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_ingest.extraction.placing.meaning import GUESSES, PEOPLE, besides_users, fits, likeness, natural_name
from vicw_ingest.extraction.placing.relatives import HAS_RELATIONSHIP, Introduction, Relatives
from vicw_ingest.extraction.reading import Reading, Thing
from vicw_ingest.extraction.rules.names import TITLES
from vicw_ingest.extraction.rules.relationships import kind_of
from vicw_shared.language.tokens import Span
from vicw_shared.merging import canonical_nodes
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import Direction, GraphTransaction
from vicw_shared.text import fold
from vicw_shared.ties import INGEST
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
        self.relatives = Relatives(transaction, now)
        self._known: dict[str, list[Node]] = {}
        self._parts: dict[str, set[str]] = {}  # full names of people by their first and last words
        self._told_parts: dict[str, set[str]] = {}  # the same of people whom the request's texts name, known or not
        self._stands_for: dict[str, str] = {}
        self._speaking: dict[str, Node] = {}  # who of several of a name is the one that speaks

    async def look_up(self, names: Iterable[str], readings: Collection[Reading]) -> None:
        """Find out what is known by these names, of who speaks and is spoken to, and by those that these texts name."""
        speaking = {fold(name) for name in names}
        wanted = speaking | {fold(thing.name) for reading in readings for thing in reading.things}
        for thing in (thing for reading in readings for thing in reading.things if thing.guess == "person"):
            _note_parts(self._told_parts, thing.name)
        known = await self._transaction.named(sorted(wanted))
        # Somebody is called by a part of the name, where it is one person's alone.
        parts = [name for name in sorted(wanted - known.keys()) if name.isalpha()]
        partly = await self._transaction.named(parts, word=True)
        found = [node for nodes in (*known.values(), *partly.values()) for node in nodes]
        stands_for = await canonical_nodes(self._transaction, found, within=self._root.context)
        for name, nodes in {**known, **partly}.items():
            meant = besides_users({(node := stands_for[same.uid]).uid: node for same in nodes}.values())
            if name in known or self._is_part(name, meant):
                self._known[name] = meant
        self._stands_for = {uid: node.uid for uid, node in stands_for.items()}
        introduced = {fold(thing.name) for reading in readings for thing in introduced_in(reading)}
        doubtful = {name for name, nodes in self._known.items() if name in introduced or len(_people(nodes)) > 1}
        members = {node.uid for name in doubtful for node in {**known, **partly}.get(name, ())}
        await self.relatives.learn({uid: self._stands_for[uid] for uid in members})
        await self._look_up_speakers(speaking & doubtful)
        common = [uid for uid, node in stands_for.items() if fold(node.subtype) in _FOUND_BY_FORM]
        degrees = await self._transaction.degrees(common)
        self.hubs = {uid for uid, degree in degrees.items() if degree >= self._hub_edges}

    def _is_part(self, name: str, meant: Sequence[Node]) -> bool:
        """Tell whether a word is a part of one person's name, and of nobody's whom a text of the request names."""
        if len(meant) != 1 or fold(meant[0].subtype) not in PEOPLE:
            return False
        return self._told_parts.get(name, set()) <= {fold(called) for called in (meant[0].name, *meant[0].aliases)}

    async def _look_up_speakers(self, names: Iterable[str]) -> None:
        """Find out who of several of one name has spoken before."""
        for name in names:
            people = {node.uid: node for node in _people(self._known[name])}
            if len(people) > 1:
                done = await self._transaction.edges(sorted(people), ["INITIATED"], Direction.OUT)
                spoken = {edge.source for edge in done if edge.created_by == INGEST}
                if len(spoken) == 1:
                    self._speaking[name] = people[spoken.pop()]

    def stands_for(self, uid: str) -> str:
        """Return the uid of what stands for a thing that was looked up."""
        return self._stands_for.get(uid, uid)

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of somebody who speaks: one that is known by the name, else a new one.

        Where several are known, it is who has spoken before, else somebody who is in nobody's family.
        """
        folded, thing = fold(name), Thing("", name, Label.ENTITY, None, subtype, Span(0, 0))
        people = _people(self._known.get(folded, ()))
        if len(people) < 2:
            node = self.named(thing)
            assert node is not None
            return node
        if folded not in self._speaking:
            strangers = [node for node in people if not self.relatives.is_anybodys(node)]
            one = strangers[0] if len(strangers) == 1 else None
            self._speaking[folded] = one or self._new(thing, f"{name} who speaks")
        return self._speaking[folded]

    def introduce(self, person: Node) -> None:
        """Take a name for this person alone from now on."""
        self._known[fold(person.name)] = [person]

    def node(self, uid: str) -> Node | None:
        """Return what is known by any of the request's names, by its uid."""
        return next((node for nodes in self._known.values() for node in nodes if node.uid == uid), None)

    def named(self, thing: Thing, speaker: Node | None = None) -> Node | None:
        """Return the node that a name means: one that is known by it, else a new one.

        Of several people of one name it is the speaker's own relative; without one, nobody.
        """
        if thing.kind == FILE and (page := self.given.get(fold(thing.name))) is not None:
            return page
        known = self._known.setdefault(self._full_name(thing), [])
        fitting = [node for node in known if fits(thing, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and thing.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # which of them is meant is not certain
        if thing.kind is None and len(_people(fitting)) > 1:
            fitting = [node for node in fitting if self.relatives.is_of(node, speaker)]
            if len(fitting) != 1:
                return None
        if fitting:
            return _better(known, min(fitting, key=likeness), thing)
        return self._new(thing) if not thing.only_known else None

    async def introduced(self, thing: Thing, told: Sequence[Introduction]) -> Node:
        """Return the one whom a text introduces as somebody's relative, never another one of the same name.

        It is the relative of this name who is known; else the only other one that it may be; else somebody new.
        """
        known = self._known.setdefault(self._full_name(thing), [])
        fitting = [node for node in known if fits(thing, node)]
        same = [node for node in fitting if any(self.relatives.is_same(node, one) for one in told)]
        if not same:
            same = [node for node in fitting if not [one for one in told if await self.relatives.is_another(node, one)]]
        if len(_people(same)) < 2 and same:
            return _better(known, min(same, key=likeness), thing)
        first = told[0]
        return self._new(thing, f"{thing.name}, {kind_of(first.relationship) or 'known'} to {first.owner}")

    def _new(self, thing: Thing, other_name: str = "") -> Node:
        """Make a node; ``other_name`` is what its uid is made of where another one has that of its name."""
        tenant, context = self._root.tenant, self._root.context
        uid = named_uid(tenant, context, thing.guess, natural_name(thing))
        known = self._known.setdefault(self._full_name(thing), [])
        if other_name and (uid in self._stands_for or any(node.uid == uid for node in known)):
            uid = named_uid(tenant, context, thing.guess, other_name)
        node = Node(
            uid=uid,
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
        if thing.guess == "person":
            _note_parts(self._parts, thing.name)
        return node

    def _full_name(self, thing: Thing) -> str:
        """Return the folded name; of somebody new who is called by a part of one person's name, that name."""
        name = fold(thing.name)
        full = self._parts.get(name, set())
        only = len(full | self._told_parts.get(name, set())) == 1
        return next(iter(full)) if thing.kind is None and name not in self._known and full and only else name


def _note_parts(parts: dict[str, set[str]], name: str) -> None:
    """Note a full name under its first and its last word; titles are nobody's."""
    words = fold(name).split()
    if len(words) > 1:
        for part in {word for word in (words[0], words[-1]) if word not in TITLES}:
            parts.setdefault(part, set()).add(" ".join(words))


def _people(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.label is Label.ENTITY and fold(node.subtype) == "person"]


def introduced_in(reading: Reading) -> list[Thing]:
    """Return those whom a text names as somebody's relatives."""
    ends = {link.target for link in reading.links if link.type == HAS_RELATIONSHIP}
    return [thing for thing in reading.things if thing.key in ends]


def _better(known: list[Node], node: Node, thing: Thing) -> Node:
    """Return a node as it is known with what a text says that it is."""
    if node.subtype in GUESSES and thing.guess not in GUESSES:
        node = _instead(known, node, replace(node, subtype=thing.guess, source=thing.scope))
    if node.text is None and thing.description is not None:
        node = _instead(known, node, replace(node, text=thing.description))
    return node


def _instead(known: list[Node], old: Node, new: Node) -> Node:
    known.remove(old)
    known.append(new)
    return new
