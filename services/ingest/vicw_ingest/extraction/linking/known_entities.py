"""Name lookup for one request: stored entities, and those that the request has named so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from vicw_core.graph.canonical import canonical_nodes
from vicw_ingest.extraction.linking.name_match import GUESSES, fits, natural_name, preference, without_users
from vicw_shared.model import Label, Node
from vicw_shared.model.extraction import ExtractedEntity, TextExtraction
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import Span, fold_case
from vicw_shared.uids import named_uid

_HUB_SUBTYPES = frozenset({"name", "symbol", "amount", "date", "handle"})


class KnownEntities:
    """Resolve names to nodes within one request."""

    def __init__(self, transaction: GraphTransaction, now: datetime, root: Node, hub_edges: int) -> None:
        self._transaction = transaction
        self._now = now
        self._root = root
        self._hub_edges = hub_edges
        self.pages: dict[str, Node] = {}  # files by case-folded path: pages of this request
        self.hubs: set[str] = set()  # uids of nodes too common to discriminate
        self._nodes_by_name: dict[str, list[Node]] = {}
        self._canonical_uids: dict[str, str] = {}

    async def look_up(self, names: Iterable[str], extractions: Collection[TextExtraction]) -> None:
        """Load the stored nodes for ``names`` (speakers) and for all names in the extractions."""
        folded_names = {fold_case(name) for name in names}
        looked_up = folded_names | {
            fold_case(entity.name) for extraction in extractions for entity in extraction.entities
        }
        nodes_by_name = await self._transaction.named(sorted(looked_up))
        stored = [node for nodes in nodes_by_name.values() for node in nodes]
        canonical = await canonical_nodes(self._transaction, stored, within=self._root.context)
        for name, nodes in nodes_by_name.items():
            self._nodes_by_name[name] = without_users(
                {(node := canonical[same.uid]).uid: node for same in nodes}.values()
            )
        self._canonical_uids = {uid: node.uid for uid, node in canonical.items()}
        common = [uid for uid, node in canonical.items() if fold_case(node.subtype) in _HUB_SUBTYPES]
        degrees = await self._transaction.degrees(common)
        self.hubs = {uid for uid, degree in degrees.items() if degree >= self._hub_edges}

    def canonical_uid(self, uid: str) -> str:
        """Return the uid of the canonical entity of a node that was looked up."""
        return self._canonical_uids.get(uid, uid)

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of a speaker: a known one with this name, else a new one."""
        entity = ExtractedEntity("", name, Label.ENTITY, None, subtype, Span(0, 0))
        return self.resolve(entity) or self._create(entity)

    def introduce(self, person: Node) -> None:
        """Resolve the name of this person to this person alone from now on."""
        self._nodes_by_name[fold_case(person.name)] = [person]

    def resolve(self, entity: ExtractedEntity) -> Node | None:
        """Return the node for a name: a known one, else a new one.

        None if several people share it, or if it is ``only_known`` and no node has it.
        """
        if entity.kind == FILE and (page := self.pages.get(fold_case(entity.name))) is not None:
            return page
        namesakes = self._nodes_by_name.setdefault(fold_case(entity.name), [])
        fitting = [node for node in namesakes if fits(entity, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and entity.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # the reference is ambiguous
        if entity.kind is None and len(_people(fitting)) > 1:
            return None
        if fitting:
            return _completed(namesakes, min(fitting, key=preference), entity)
        return self._create(entity) if not entity.only_known else None

    def _create(self, entity: ExtractedEntity) -> Node:
        tenant, context = self._root.tenant, self._root.context
        uid = named_uid(tenant, context, entity.guess, natural_name(entity))
        namesakes = self._nodes_by_name.setdefault(fold_case(entity.name), [])
        node = Node(
            uid=uid,
            label=entity.label,
            tenant=self._root.tenant,
            context=self._root.context,
            name=entity.name,
            title=entity.name,
            text=entity.description,
            source=entity.scope,
            subtype=entity.guess,
            domain=self._root.domain,
            created_at=self._now,
        )
        namesakes.append(node)
        return node


def _people(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.label is Label.ENTITY and fold_case(node.subtype) == "person"]


def _completed(namesakes: list[Node], node: Node, entity: ExtractedEntity) -> Node:
    """Return the node, with the text's subtype or description where it lacks one."""
    if node.subtype in GUESSES and entity.guess not in GUESSES:
        node = _replaced(namesakes, node, replace(node, subtype=entity.guess, source=entity.scope))
    if node.text is None and entity.description is not None:
        node = _replaced(namesakes, node, replace(node, text=entity.description))
    return node


def _replaced(namesakes: list[Node], old: Node, new: Node) -> Node:
    namesakes.remove(old)
    namesakes.append(new)
    return new
