"""Named entities of one request: new or stored nodes, with the descriptions that the request adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_ingest.identity.canonical_names import CanonicalNames, canonical_names
from vicw_ingest.plan.drafts import ItemDraft
from vicw_ingest.plan.linking.name_match import GUESSES
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Label, Node
from vicw_shared.ports import Lookups
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid, named_uid

_SUBJECTS = ("person", "user", "chat", "agent")


class NamedEntities:
    """Registry of a request's named nodes. ``nodes`` holds them, and the extracted events, by uid."""

    def __init__(self, now: datetime, root: Node) -> None:
        self.nodes: dict[str, Node] = {}
        self._now = now
        self._root = root
        self._paths: dict[str, str] = {}  # path in the request that names a node

    def name(
        self, label: Label, subtype: str, name: str, *, description: str | None = None, path: str | None = None
    ) -> Node:
        """Register and return the node of this name and subtype.

        Raises InvalidInputError if it is already known under another label.
        """
        node = self.new_node(named_uid(self._root.tenant, self._root.context, subtype, name), label, subtype, name)
        registered = self.nodes.setdefault(node.uid, replace(node, text=description))
        if path is not None:
            self._paths.setdefault(node.uid, path)
        self._require_label(registered, label)
        if description is not None and registered.text is None:
            registered = self.nodes[node.uid] = replace(registered, text=description)
        return registered

    def new_node(self, uid: str, label: Label, subtype: str, name: str) -> Node:
        """Return a node of the context that has only a name."""
        return Node(
            uid=uid,
            label=label,
            tenant=self._root.tenant,
            context=self._root.context,
            name=name,
            title=name,
            subtype=subtype,
            domain=self._root.domain,
            created_at=self._now,
        )

    def put(self, node: Node) -> Node:
        """Register a node. A registered node keeps its description and takes a changed subtype and source."""
        registered = self.nodes.setdefault(node.uid, node)
        if registered.subtype != node.subtype:
            registered = self.nodes[node.uid] = replace(registered, subtype=node.subtype, source=node.source)
        return registered

    async def drop_clashes(self, lookups: Lookups) -> set[str]:
        """Remove nodes that are stored under another label, without an error, and return their uids."""
        stored = await lookups.nodes(list(self.nodes))
        clashing = {uid for uid, node in stored.items() if node.label is not self.nodes[uid].label}
        for uid in clashing:
            del self.nodes[uid]
        return clashing

    async def resolve_names(self, lookups: Lookups) -> CanonicalNames:
        """Return the replacements of nodes that were merged, or whose name a renamed node has.

        Afterwards ``nodes`` holds exactly the nodes to store.
        """
        stored = await lookups.nodes(list(self.nodes))
        replacements = await canonical_names(lookups, self._root.context, self.nodes.values(), stored)
        for uid in replacements.renamed:
            self.nodes.pop(uid, None)
        self._merge(stored)
        return replacements

    def _merge(self, stored_nodes: Mapping[str, Node]) -> None:
        """Keep a stored node's fields, and give it a description if it had none.

        A retired node keeps only its ``created_at``; its other fields come from the request.
        """
        for uid, stored in stored_nodes.items():
            new = self.nodes[uid]
            self._require_label(stored, new.label)
            if stored.retired_at is not None:
                self.nodes[uid] = replace(new, created_at=stored.created_at)
                continue
            merged = replace(stored, text=stored.text or new.text)
            is_guess = stored.subtype in GUESSES  # a guess: the request may know its subtype better
            self.nodes[uid] = replace(merged, subtype=new.subtype, source=new.source) if is_guess else merged

    def _require_label(self, registered: Node, label: Label) -> None:
        if registered.label is not label:
            raise InvalidInputError(
                FieldProblem(
                    self._paths.get(registered.uid, "extraction"),
                    f"{registered.name!r} of subtype {registered.subtype!r} is known as "
                    f"{registered.label}, not {label}",
                    "Give it another subtype",
                )
            )


async def find_subjects(lookups: Lookups, root: Node, drafts: Sequence[ItemDraft]) -> dict[str, Node]:
    """Find the stored entities that ``about`` names: a uid, or the name of a person, user, chat or agent.

    Raises InvalidInputError for an unknown uid.
    """
    names = {name for draft in drafts for name in draft.item.about}
    if not names:
        return {}
    candidates: dict[str, list[str]] = {}
    for name in names:
        by_name = [named_uid(root.tenant, root.context, subtype, name) for subtype in _SUBJECTS]
        candidates[name] = [*([name.lower()] if is_uid(name.lower()) else []), *by_name]
    by_uid = await lookups.nodes([uid for uids in candidates.values() for uid in uids])
    renamed = await lookups.named([fold_case(name) for name in candidates])
    subjects: dict[str, Node] = {}
    for name, uids in candidates.items():
        live = (by_uid[uid] for uid in uids if uid in by_uid and by_uid[uid].retired_at is None)
        stored = (node for node in live if node.label is Label.ENTITY and node.content_hash is None)
        namesakes = (node for node in renamed.get(fold_case(name), ()) if fold_case(node.subtype) in _SUBJECTS)
        if (node := next(stored, next(namesakes, None))) is not None:
            subjects[name] = node
        elif is_uid(name.lower()):
            raise InvalidInputError(*_unknown_subject(name, drafts))
    return subjects


def _unknown_subject(uid: str, drafts: Sequence[ItemDraft]) -> Iterator[FieldProblem]:
    for draft in drafts:
        for position, name in enumerate(draft.item.about):
            if name == uid:
                yield FieldProblem(
                    f"{draft.path}.about[{position}]",
                    f"{uid} is not the uid of a known person",
                    "Give a name, or a uid that an answer of /ingest or /retrieve named",
                )
