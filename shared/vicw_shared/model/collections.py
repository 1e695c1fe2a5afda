"""Registry of node collections: the (label, subtype) kinds that integrations add.

A subtype is free text; a collection gives a subtype a registered name, so that its nodes can be exported, listed and
distinguished from ordinary items. The core collections are always registered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vicw_shared.errors import FieldProblem, SettingsError, UnknownTypeError
from vicw_shared.model.core5 import Label


@dataclass(frozen=True, slots=True)
class NodeCollection:
    """A named kind of node: all nodes of ``label`` whose subtype is ``subtype`` (None: any)."""

    name: str
    label: Label
    subtype: str | None = None


CORE_COLLECTIONS = (
    NodeCollection("contexts", Label.CONTEXT),
    NodeCollection("entities", Label.ENTITY),
    NodeCollection("events", Label.EVENT),
    NodeCollection("concepts", Label.CONCEPT),
    NodeCollection("chunks", Label.CHUNK),
    NodeCollection("people", Label.ENTITY, "person"),
    NodeCollection("users", Label.ENTITY, "user"),
    NodeCollection("chats", Label.ENTITY, "chat"),
    NodeCollection("tags", Label.CONCEPT, "tag"),
    NodeCollection("buckets", Label.CONCEPT, "bucket"),
    NodeCollection("statements", Label.EVENT, "statement"),
    NodeCollection("macros", Label.EVENT, "macro"),
)

RESERVED = frozenset({"edges", "counters", "unread", "uses", "receipts", "steps", "keys"})
"""Names of export files that are no collections (``archive/manifest.py``, RECORDS)."""


class CollectionRegistry:
    """Finds the most specific collection of a node."""

    def __init__(self) -> None:
        self._by_name: dict[str, NodeCollection] = {}
        self._by_kind: dict[tuple[Label, str | None], NodeCollection] = {}
        for collection in CORE_COLLECTIONS:
            self.register(collection)

    def __iter__(self) -> Iterator[NodeCollection]:
        return iter(self._by_name.values())

    def register(self, collection: NodeCollection) -> None:
        """Add a collection.

        Raises SettingsError for a malformed or RESERVED name, or if its name or kind is registered differently.
        """
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", collection.name):
            raise SettingsError(f"collection {collection.name!r}: use small letters, digits and underscores")
        if collection.name in RESERVED:
            raise SettingsError(
                f"collection {collection.name!r}: an export has a file {collection.name}.jsonl of its own. "
                "Use another name"
            )
        kind = (collection.label, collection.subtype)
        if (
            self._by_name.setdefault(collection.name, collection) != collection
            or self._by_kind.setdefault(kind, collection) != collection
        ):
            raise SettingsError(f"collection {collection.name} or its kind {kind} is registered already")

    def get(self, name: str) -> NodeCollection:
        """Return the collection called ``name``. Raises UnknownTypeError that lists the registered ones."""
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownTypeError(
                FieldProblem("collection", f"{name!r} is not registered", f"Use one of {', '.join(self._by_name)}")
            ) from None

    def of(self, label: Label, subtype: str) -> NodeCollection:
        """Return the collection of nodes with ``label`` and ``subtype``."""
        return self._by_kind.get((label, subtype)) or self._by_kind[(label, None)]
