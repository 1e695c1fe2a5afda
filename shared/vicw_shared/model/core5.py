"""Nodes and edges of the Core-5 graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

LEDGER = "folded"
"""Metadata key of a consolidated item's first passage: the ledger entry of the item (``consolidation.ledger``)."""
CONSOLIDATED_ITEM = "item"
"""Metadata key of a consolidated item's passages: the uid of the item."""
GIVEN = "given"
"""Metadata key of an item's first passage: what its caller gave and the graph does not hold in that form."""
LASTS = "lasts"
"""Metadata key of a statement with a time of its own: the seconds that this time lasts (86400 for "yesterday")."""
LIGHT = "light"
"""Metadata key of a passage whose point has only a sparse vector, no dense one."""
MACRO = "macro"
"""Subtype of a Macro-Event, and of the passages of its summary. A caller may use it for an item, too."""
SYSTEM_VERSION = 0
"""Version of an item that VICW created (a Macro-Event): callers' versions count from 1."""


class Label(StrEnum):
    """The five kinds of nodes, all there are; ``subtype`` refines the kind."""

    CONTEXT = "Context"
    ENTITY = "Entity"
    EVENT = "Event"
    CONCEPT = "Concept"
    CHUNK = "Chunk"


class Sensitivity(StrEnum):
    """Sensitivity of a memory, which determines its visibility."""

    PUBLIC = "public"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"


LABELS: Mapping[str, Label] = {label.value: label for label in Label}
SENSITIVITIES: Mapping[str, Sensitivity] = {sensitivity.value: sensitivity for sensitivity in Sensitivity}
"""By value, for rows: a look-up costs half as much as a call of the enumeration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the graph. All times are timezone-aware UTC.

    ``timestamp`` is when it happened, ``created_at`` when VICW stored it, ``retired_at`` when it was retired,
    ``valid_to`` when it stopped being true, as far as rules can tell; ``superseded_at`` when something that decides
    (``model.supersession``) replaced what it says, which hides it from then on.
    ``flow_step`` is the gap-free number assigned at arrival (from 1);
    ``own_step`` is the caller's. ``arrival`` counts the items of a context (from 1). ``title`` is the caller's own name
    for it; ``name`` is the display name: the title, else the speaker, else the text's first words. ``aliases`` are
    earlier names of a named node; ``trigger_phrases`` are the phrases that trigger an item. ``text_key`` is a hash of
    the normalised text of a Chunk, or of an item of several Chunks (``model.text_keys``). ``indexed`` is true if the
    point ``qdrant_id`` is in the vector store.
    """

    uid: str
    label: Label
    tenant: str
    context: str
    name: str
    subtype: str
    domain: str
    created_at: datetime
    qdrant_id: str | None = None
    title: str | None = None
    aliases: tuple[str, ...] = ()
    text: str | None = None
    speaker: str | None = None
    source: str | None = None
    source_id: str | None = None
    version: int = 1
    content_hash: str | None = None
    text_key: str | None = None
    tags: tuple[str, ...] = ()
    bucket: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    timestamp: datetime | None = None
    timestamp_inferred: bool = False
    retired_at: datetime | None = None
    valid_to: datetime | None = None
    superseded_at: datetime | None = None
    expires_at: datetime | None = None
    flow_id: str | None = None
    flow_step: int | None = None
    own_step: int | None = None
    arrival: int | None = None
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: bool = True
    importance: float | None = None
    protected: bool = False
    trigger_phrases: tuple[str, ...] = ()
    indexed: bool = False

    @property
    def is_statement(self) -> bool:
        """Whether it is a statement, a sentence of a Chunk: an Event with a point of its own, whatever its subtype."""
        return self.label is Label.EVENT and self.qdrant_id == self.uid

    @property
    def is_light(self) -> bool:
        """Whether it is a passage without a dense vector: its Macro-Event has the vector."""
        return self.label is Label.CHUNK and bool(self.metadata.get(LIGHT))

    @property
    def is_macro(self) -> bool:
        """Whether it is a Macro-Event: an item that VICW made by consolidating others."""
        return self.label is Label.EVENT and self.content_hash is not None and self.version == SYSTEM_VERSION

    @property
    def items(self) -> tuple[str, ...]:
        """The uids of the callers' items that a Macro-Event replaces, in order; for any other node its own uid."""
        items = self.metadata.get("items") if self.is_macro else None
        return tuple(map(str, items)) if isinstance(items, list) and items else (self.uid,)

    @property
    def is_duplicate(self) -> bool:
        """Whether it is a duplicate of a stored item, without a text of its own (decision 0023)."""
        return self.label is not Label.CHUNK and self.content_hash is not None and self.qdrant_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A typed edge with its provenance.

    ``weight`` is in [0, 1]. ``created_by`` names its origin: ``caller``, ``ingest``, a rule, a model or a task.
    ``properties`` holds, among others, ``item`` (the extracted item), ``desc`` (RELATED_TO), ``description``
    (MENTIONS), ``certainty`` in [0, 1] (CAUSED, ENABLED, auto-tags, inferred merges) and ``confidence`` (bridges).
    """

    id: str
    type: str
    source: str
    target: str
    weight: float
    created_at: datetime
    created_by: str
    properties: Mapping[str, object] = field(default_factory=dict)


AGENTS = frozenset({"assistant", "system", "tool", "function", "bot", "ai", "model"})
"""Roles of programs; case-folded."""
ROLES = AGENTS | {"user", "human"}
"""All roles; case-folded."""


def speaker_subtype(speaker: str) -> str:
    """Return the subtype of a speaker: ``agent`` for a known program, else ``person``."""
    return "agent" if speaker.casefold() in AGENTS else "person"
