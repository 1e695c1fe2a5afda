"""Name lookup for one request: stored entities, and those that the request has named so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from vicw_ingest.extraction.linking.name_match import GUESSES, besides_users, fits, natural_name, preference
from vicw_ingest.extraction.model import ExtractedEntity, TextExtraction
from vicw_shared.canonical import canonical_nodes
from vicw_shared.language.tokens import Span
from vicw_shared.model import Label, Node
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid

_FOUND_BY_FORM = frozenset({"name", "symbol", "amount", "date", "handle"})


class KnownEntities:
    """Resolve names to nodes within one request."""

    def __init__(self, transaction: GraphTransaction, now: datetime, root: Node, hub_edges: int) -> None:
        self._transaction = transaction
        self._now = now
        self._root = root
        self._hub_edges = hub_edges
        self.given: dict[str, Node] = {}  # files by case-folded path: pages of this request
        self.hubs: set[str] = set()  # uids of nodes too common to discriminate
        self._known: dict[str, list[Node]] = {}
        self._stands_for: dict[str, str] = {}

    async def look_up(self, names: Iterable[str], readings: Collection[TextExtraction]) -> None:
        """Load the stored nodes for ``names`` (speakers, addressees) and for all names in the extractions."""
        speaking = {fold_case(name) for name in names}
        wanted = speaking | {fold_case(thing.name) for reading in readings for thing in reading.things}
        known = await self._transaction.named(sorted(wanted))
        found = [node for nodes in known.values() for node in nodes]
        stands_for = await canonical_nodes(self._transaction, found, within=self._root.context)
        for name, nodes in known.items():
            self._known[name] = besides_users({(node := stands_for[same.uid]).uid: node for same in nodes}.values())
        self._stands_for = {uid: node.uid for uid, node in stands_for.items()}
        common = [uid for uid, node in stands_for.items() if fold_case(node.subtype) in _FOUND_BY_FORM]
        degrees = await self._transaction.degrees(common)
        self.hubs = {uid for uid, degree in degrees.items() if degree >= self._hub_edges}

    def canonical_uid(self, uid: str) -> str:
        """Return the uid of the canonical entity of a node that was looked up."""
        return self._stands_for.get(uid, uid)

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of a speaker or addressee: a known one with this name, else a new one."""
        thing = ExtractedEntity("", name, Label.ENTITY, None, subtype, Span(0, 0))
        return self.named(thing) or self._new(thing)

    def introduce(self, person: Node) -> None:
        """Resolve the name of this person to this person alone from now on."""
        self._known[fold_case(person.name)] = [person]

    def named(self, thing: ExtractedEntity) -> Node | None:
        """Return the node for a name: a known one, else a new one.

        None if several people share it, or if it is ``only_known`` and no node has it.
        """
        if thing.kind == FILE and (page := self.given.get(fold_case(thing.name))) is not None:
            return page
        known = self._known.setdefault(fold_case(thing.name), [])
        fitting = [node for node in known if fits(thing, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and thing.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # the reference is ambiguous
        if thing.kind is None and len(_people(fitting)) > 1:
            return None
        if fitting:
            return _better(known, min(fitting, key=preference), thing)
        return self._new(thing) if not thing.only_known else None

    def _new(self, thing: ExtractedEntity) -> Node:
        tenant, context = self._root.tenant, self._root.context
        uid = named_uid(tenant, context, thing.guess, natural_name(thing))
        known = self._known.setdefault(fold_case(thing.name), [])
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
        return node


def _people(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.label is Label.ENTITY and fold_case(node.subtype) == "person"]


def _better(known: list[Node], node: Node, thing: ExtractedEntity) -> Node:
    """Return the node, with the text's subtype or description where it lacks one."""
    if node.subtype in GUESSES and thing.guess not in GUESSES:
        node = _instead(known, node, replace(node, subtype=thing.guess, source=thing.scope))
    if node.text is None and thing.description is not None:
        node = _instead(known, node, replace(node, text=thing.description))
    return node


def _instead(known: list[Node], old: Node, new: Node) -> Node:
    known.remove(old)
    known.append(new)
    return new
