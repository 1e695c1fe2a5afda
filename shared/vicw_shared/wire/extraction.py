"""An extraction from a text: one model for callers, language models and rules."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, Prose, Timestamp, Unit


class EntityInput(Message):
    """An entity or a concept that the text names. Its identity is its name and subtype inside the context."""

    id: Id | None = Field(None, description="Local id for relations; default: the name")
    name: Prose
    subtype: Id | None = Field(None, description='Granular type, such as "function" or "villain"')
    description: Prose | None = None


class EventInput(Message):
    """An event that the text reports."""

    id: Id | None = Field(None, description="Local id for relations; default: the name")
    name: Prose
    subtype: Id | None = None
    description: Prose | None = None
    timestamp: Timestamp | None = None


class Relation(Message):
    """A typed edge. Ends are local ids of this extraction, ``$item`` (this item), or ids of items in the context."""

    source: Id
    type: Id = Field(description="A registered edge type, such as CAUSED")
    target: Id
    certainty: Unit | None = Field(None, description="How sure the cause is (CAUSED, ENABLED)")
    desc: Prose | None = Field(None, description="What kind of relation (RELATED_TO)")
    weight: Unit | None = Field(None, description="Strength; default: the registry's")


class Extraction(Message):
    """Entities, events, concepts and the relations among them."""

    entities: tuple[EntityInput, ...] = ()
    events: tuple[EventInput, ...] = ()
    concepts: tuple[EntityInput, ...] = ()
    relations: tuple[Relation, ...] = ()

    def __len__(self) -> int:
        return len(self.entities) + len(self.events) + len(self.concepts) + len(self.relations)
