"""Name lookup for one request: stored entities, and those that the request has named so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_core.graph.canonical import canonical_nodes
from vicw_ingest.plan.linking.name_match import GUESSES, fits, natural_name, preference, without_users
from vicw_shared.model import Label, Node
from vicw_shared.model.extraction import ExtractedEntity, TextExtraction
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import Lookups
from vicw_shared.text import Span, fold_case
from vicw_shared.uids import named_uid

_HUB_SUBTYPES = frozenset({"name", "symbol", "amount", "date", "handle"})


class KnownEntities:
    """Resolve names to nodes within one request."""

    def __init__(
        self,
        now: datetime,
        root: Node,
        nodes_by_name: Mapping[str, Sequence[Node]],
        canonical_uids: Mapping[str, str],
        hubs: Collection[str],
        pages: Iterable[Node] = (),
    ) -> None:
        """``hubs``: uids of nodes too common to discriminate. ``pages``: a path refers to one of them, if it can."""
        self.hubs = hubs
        self._now = now
        self._root = root
        self._nodes_by_name = {name: list(nodes) for name, nodes in nodes_by_name.items()}
        self._canonical_uids = canonical_uids
        self._pages = {fold_case(page.source): page for page in pages if page.source is not None}

    @classmethod
    async def look_up(
        cls,
        lookups: Lookups,
        now: datetime,
        root: Node,
        hub_edges: int,
        names: Iterable[str],
        extractions: Collection[TextExtraction],
        pages: Iterable[Node] = (),
    ) -> KnownEntities:
        """Load the stored nodes for ``names`` (speakers) and for all names in the extractions.

        ``pages`` are the request's own. A node that is known by the form of its name alone is a hub once it has
        ``hub_edges`` edges.
        """
        folded_names = {fold_case(name) for name in names}
        looked_up = folded_names | {
            fold_case(entity.name) for extraction in extractions for entity in extraction.entities
        }
        nodes_by_name = await lookups.named(sorted(looked_up))
        stored = [node for nodes in nodes_by_name.values() for node in nodes]
        canonical = await canonical_nodes(lookups, stored, within=root.context)
        canonical_by_name = {
            name: without_users({(node := canonical[same.uid]).uid: node for same in nodes}.values())
            for name, nodes in nodes_by_name.items()
        }
        common = [uid for uid, node in canonical.items() if fold_case(node.subtype) in _HUB_SUBTYPES]
        degrees = await lookups.degrees(common) if common else {}
        hubs = {uid for uid, degree in degrees.items() if degree >= hub_edges}
        canonical_uids = {uid: node.uid for uid, node in canonical.items()}
        return cls(now, root, canonical_by_name, canonical_uids, hubs, pages)

    def canonical_uid(self, uid: str) -> str:
        """Return the uid of the canonical entity of a node that was looked up."""
        return self._canonical_uids.get(uid, uid)

    def person(self, name: str, subtype: str) -> Node:
        """Return the node of a speaker: a known one with this name, else a new one."""
        entity = ExtractedEntity("", name, Label.ENTITY, None, subtype, Span(0, 0))
        return self.resolve(entity) or self._create(entity, self._namesakes(name))

    def introduce(self, person: Node) -> None:
        """Resolve the name of this person to this person alone from now on."""
        self._nodes_by_name[fold_case(person.name)] = [person]

    def resolve(self, entity: ExtractedEntity) -> Node | None:
        """Return the node for a name: a known one, else a new one.

        None if several people share it, or if it is ``only_known`` and no node has it.
        """
        if entity.kind == FILE and (page := self._pages.get(fold_case(entity.name))) is not None:
            return page
        namesakes = self._namesakes(entity.name)
        fitting = [node for node in namesakes if fits(entity, node)]
        certain = [node for node in fitting if node.subtype not in GUESSES]
        if len(certain) > 1 and entity.guess == "symbol":
            fitting = [node for node in fitting if node.subtype in GUESSES]  # the reference is ambiguous
        if entity.kind is None and len(_people(fitting)) > 1:
            return None
        if fitting:
            return _completed(namesakes, min(fitting, key=preference), entity)
        return self._create(entity, namesakes) if not entity.only_known else None

    def _namesakes(self, name: str) -> list[Node]:
        """Return the known nodes of a name: a list to which nodes may be added."""
        return self._nodes_by_name.setdefault(fold_case(name), [])

    def _create(self, entity: ExtractedEntity, namesakes: list[Node]) -> Node:
        node = Node(
            uid=named_uid(self._root.tenant, self._root.context, entity.guess, natural_name(entity)),
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
