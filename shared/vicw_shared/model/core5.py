"""Nodes and edges of the Core-5 graph (seed 003 §2.1; seed 004 "Edge model")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

LEDGER = "folded"
"""The metadata of a consolidated item's first passage that keeps what the item was (``consolidation.ledger``)."""
PART = "item"
"""The metadata of a consolidated item's passages that names the item."""
LIGHT = "light"
"""The metadata of a passage whose point has words alone: no vector."""
MACRO = "macro"
"""The subtype of a Macro-Event, and of the passages of its summary. A caller may call an item so, too."""
OF_NOBODY = 0
"""The version of an item that we made: those of callers count from 1."""


class Label(StrEnum):
    """The five ways in which a thing exists. There is no sixth; what a thing is goes in ``subtype``."""

    CONTEXT = "Context"
    ENTITY = "Entity"
    EVENT = "Event"
    CONCEPT = "Concept"
    CHUNK = "Chunk"


class Sensitivity(StrEnum):
    """Who may see a memory (seed 004, "Privacy Model")."""

    PUBLIC = "public"
    PERSONAL = "personal"
    SENSITIVE = "sensitive"


LABELS: Mapping[str, Label] = {label.value: label for label in Label}
SENSITIVITIES: Mapping[str, Sensitivity] = {sensitivity.value: sensitivity for sensitivity in Sensitivity}
"""By their values, for rows: looking up costs half of what a call of the enumeration does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the graph. All times are timezone-aware UTC.

    ``timestamp`` is when it happened, ``created_at`` when we learnt it, ``retired_at`` when we stopped
    believing it, ``valid_to`` when it stopped being true. ``flow_step`` is the gap-free number given at
    arrival (from 1); ``own_step`` is the caller's. ``arrival`` counts the items of a context (from 1).
    ``title`` is
    the caller's own name for it, ``name`` what to show: the title, else the speaker, else the text's first words.
    ``aliases`` are the names that a named thing had before; ``trigger_phrases`` the words that an item comes up by.
    ``text_key`` is what a Chunk says, or an item of several (``model.wording``).
    ``indexed`` tells whether the point ``qdrant_id`` is in the vector store.
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
        """Whether it is a sentence of a Chunk: an Event with a point of its own, whatever its subtype."""
        return self.label is Label.EVENT and self.qdrant_id == self.uid

    @property
    def is_light(self) -> bool:
        """Whether it is a passage that is found by its words alone: its Macro-Event has the vector."""
        return self.label is Label.CHUNK and bool(self.metadata.get(LIGHT))

    @property
    def is_macro(self) -> bool:
        """Whether it is a Macro-Event: an item that we made, of others."""
        return self.label is Label.EVENT and self.content_hash is not None and self.version == OF_NOBODY

    @property
    def items(self) -> tuple[str, ...]:
        """The uids of the callers' items that it stands for, in order, as a Macro-Event; otherwise its own."""
        told = self.metadata.get("items") if self.is_macro else None
        return tuple(map(str, told)) if isinstance(told, list) and told else (self.uid,)

    @property
    def is_echo(self) -> bool:
        """Whether it is an item that has no text of its own: it repeats one that is stored (decision 0023)."""
        return self.label is not Label.CHUNK and self.content_hash is not None and self.qdrant_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A typed edge with its provenance.

    ``weight`` is in [0, 1]. ``created_by`` names who made it: ``caller``, ``ingest``, a rule, a model or a
    task. ``properties`` holds ``desc`` (RELATED_TO) and ``certainty`` in [0, 1] (CAUSED).
    """

    id: str
    type: str
    source: str
    target: str
    weight: float
    created_at: datetime
    created_by: str
    properties: Mapping[str, object] = field(default_factory=dict)
