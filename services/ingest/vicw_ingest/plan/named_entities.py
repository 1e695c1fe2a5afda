"""The named things of one request: made, or known already, and what each is told of by now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from vicw_ingest.extraction.linking.name_match import GUESSES
from vicw_ingest.identity.canonical_names import CanonicalNames, canonical_names
from vicw_ingest.plan.drafts import ItemDraft
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Label, Node
from vicw_shared.ports import GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid, named_uid

_SUBJECTS = ("person", "user", "chat", "agent")


class NamedEntities:
    """Names things; ``nodes`` has them, and the events that texts tell of, by uid."""

    def __init__(self, transaction: GraphTransaction, now: datetime, root: Node) -> None:
        self.nodes: dict[str, Node] = {}
        self._transaction = transaction
        self._now = now
        self._root = root
        self._told_at: dict[str, str] = {}  # where in the request a thing was told of

    def name(
        self, label: Label, subtype: str, name: str, *, description: str | None = None, told_at: str | None = None
    ) -> Node:
        """Return the thing of this name and subtype, which the request names from now on.

        Raises InvalidInputError for one that is known as of another label.
        """
        node = self.bare(named_uid(self._root.tenant, self._root.context, subtype, name), label, subtype, name)
        known = self.nodes.setdefault(node.uid, replace(node, text=description))
        if told_at is not None:
            self._told_at.setdefault(node.uid, told_at)
        self._require_label(known, label)
        if description is not None and known.text is None:
            known = self.nodes[node.uid] = replace(known, text=description)
        return known

    def bare(self, uid: str, label: Label, subtype: str, name: str) -> Node:
        """Return a node of the context with nothing but a name."""
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
        """Have a node stored; what is told of it already stays, but it may be better known by now."""
        known = self.nodes.setdefault(node.uid, node)
        if known.subtype != node.subtype:
            known = self.nodes[node.uid] = replace(known, subtype=node.subtype, source=node.source)
        return known

    async def subjects(self, drafts: Sequence[ItemDraft]) -> dict[str, Node]:
        """Find whom ``about`` names: a uid, or the name of a person, user, chat or agent of the context.

        Raises InvalidInputError for the uid of nobody.
        """
        candidates: dict[str, list[str]] = {}
        for name in {name for draft in drafts for name in draft.item.about}:
            by_name = [named_uid(self._root.tenant, self._root.context, subtype, name) for subtype in _SUBJECTS]
            candidates[name] = [*([name.lower()] if is_uid(name.lower()) else []), *by_name]
        known = await self._transaction.nodes([uid for uids in candidates.values() for uid in uids])
        renamed = await self._transaction.named([fold_case(name) for name in candidates])
        found: dict[str, Node] = {}
        for name, uids in candidates.items():
            there = (known[uid] for uid in uids if uid in known and known[uid].retired_at is None)
            stored = (node for node in there if node.label is Label.ENTITY)
            called = (node for node in renamed.get(fold_case(name), ()) if fold_case(node.subtype) in _SUBJECTS)
            if (node := next(stored, next(called, None))) is not None:
                found[name] = node
            elif is_uid(name.lower()):
                raise InvalidInputError(*_nobody(name, drafts))
        return found

    async def leave_out_clashes(self) -> set[str]:
        """Leave out what is known as another kind of node, where nobody has asked for it; return the uids."""
        known = await self._transaction.nodes(list(self.nodes))
        clashing = {uid for uid, node in known.items() if node.label is not self.nodes[uid].label}
        for uid in clashing:
            del self.nodes[uid]
        return clashing

    async def resolve_names(self) -> CanonicalNames:
        """Return what goes by a name that another thing has by now, or is merged into another: that one is told of.

        What is left in ``nodes`` is what is to be stored.
        """
        standing = await canonical_names(self._transaction, self._root.context, self.nodes.values())
        for uid in standing.renamed:
            self.nodes.pop(uid, None)
        await self._keep_known()
        return standing

    async def _keep_known(self) -> None:
        """A named thing that is stored already keeps its creation and gains a description if it had none.

        Of one that was retired nothing else is left: it is what it is told to be now.
        """
        for uid, known in (await self._transaction.nodes(list(self.nodes))).items():
            new = self.nodes[uid]
            self._require_label(known, new.label)
            if known.retired_at is not None:
                self.nodes[uid] = replace(new, created_at=known.created_at)
                continue
            kept = replace(known, text=known.text or new.text)
            is_guess = known.subtype in GUESSES  # and may be known better by now
            self.nodes[uid] = replace(kept, subtype=new.subtype, source=new.source) if is_guess else kept

    def _require_label(self, known: Node, label: Label) -> None:
        if known.label is not label:
            raise InvalidInputError(
                FieldProblem(
                    self._told_at.get(known.uid, "extraction"),
                    f"{known.name!r} of subtype {known.subtype!r} is known as {known.label}, not {label}",
                    "Give it another subtype",
                )
            )


def _nobody(uid: str, drafts: Sequence[ItemDraft]) -> Iterator[FieldProblem]:
    for draft in drafts:
        for place, name in enumerate(draft.item.about):
            if name == uid:
                yield FieldProblem(
                    f"{draft.path}.about[{place}]",
                    f"{uid} is not the uid of a known person",
                    "Give a name, or a uid that an answer of /ingest or /retrieve named",
                )
