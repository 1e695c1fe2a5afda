"""``/entities``: the named entities and concepts of a context, and their merges."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vicw_shared.model import Label
from vicw_shared.wire.base import Id, Message, Prose, StrictBool, StrictInt, Timestamp, Unit, example
from vicw_shared.wire.examples import graph, story

_Limit = Annotated[int, Field(ge=1, le=1000, description="Maximum number of entries")]
_Subtype = Annotated[
    Id | None, Field(description="Only entities of this subtype, such as person", examples=["villain"])
]


class EntityQuery(Message):
    """A list of the entities of a context."""

    context: Id = Field(description="Context of the listed entities", examples=[story.NOVEL])
    subtype: _Subtype = None
    prefix: Prose | None = Field(None, description="Start of their names, in any casing", examples=["Ma"])
    after: Id | None = Field(None, description="The `next` of the page before", examples=[story.CURSOR])
    limit: _Limit = 100


class MergeCandidateQuery(Message):
    """A search for entities that may be the same."""

    context: Annotated[
        list[Id],
        Field(min_length=1, max_length=20, description="Contexts whose names are compared", examples=[[story.NOVEL]]),
    ]
    subtype: _Subtype = None
    threshold: float | None = Field(
        None,
        ge=0.5,
        le=1,
        description="Minimum similarity of spelling; default: VICW_INGEST_CANDIDATE_THRESHOLD",
        examples=[0.8],
    )
    limit: _Limit = 100


class EntityRef(Message):
    """A named entity or concept: a person, a file, an idea, a tag."""

    uid: str
    label: Label
    subtype: str
    name: str
    context: str


class MergedRef(EntityRef):
    """The entity at the other end of a merge."""

    guess: bool = Field(
        False, description="True if the background job inferred the merge; false if a caller decided it"
    )


class Entity(EntityRef):
    """An entity with its details."""

    model_config = example(graph.RAVEN)

    aliases: tuple[str, ...] = Field((), description="Names that it had before it was renamed")
    description: str | None = None
    domain: str
    created_at: Timestamp
    degree: StrictInt = Field(description="Number of its own edges, without structural and merge edges")
    merged_into: MergedRef | None = Field(None, description="The entity that it was merged into")
    canonical: str = Field(description="Uid of the canonical entity; its own unless it was merged")
    merged: tuple[MergedRef, ...] = Field((), description="Entities that were merged into it, at most 20")


class EntityPage(Message):
    """Entities by name; ``next`` is the ``after`` of the next page, null at the end."""

    model_config = example({"entities": [graph.RAVEN], "next": None})

    entities: tuple[Entity, ...]
    next: str | None = None


class MergeCandidate(Message):
    """Two entities that may be the same. The caller decides: this request merges nothing."""

    entity: EntityRef
    other: EntityRef
    score: Unit = Field(description="Similarity of their names, in [0, 1]; 1: the same name")
    reason: str


class MergeCandidatePage(Message):
    """Merge candidates, the likeliest first. ``complete`` is false if there are more names than were compared."""

    model_config = example(
        {
            "candidates": [
                {
                    "entity": graph.RAVEN_REF,
                    "other": {**graph.RAVEN_REF, "uid": "6a1f0d7c-3b52-5e8d-9c40-2d7e1b9a5f63", "name": "The Ravenn"},
                    "score": 0.95,
                    "reason": "their names are spelled alike",
                }
            ],
            "examined": 9,
            "complete": True,
        }
    )

    candidates: tuple[MergeCandidate, ...]
    examined: StrictInt = Field(description="Entities whose names were compared")
    complete: StrictBool


class MergeRequest(Message):
    """Merge ``entity`` into ``into``, which is the canonical entity of both from then on."""

    model_config = example({"entity": story.RAVEN, "into": story.MARA})

    entity: Id = Field(description="Uid of the entity that is merged")
    into: Id = Field(description="Uid of the entity that is kept")


class SplitRequest(Message):
    """Undo the merge of ``entity``, or declare it distinct from ``apart_from``; the two are not proposed again."""

    model_config = example({"entity": story.RAVEN})

    entity: Id = Field(description="Uid of the entity that was merged")
    apart_from: Id | None = Field(
        None, description="Uid of the entity that it is not; default: the one it was merged into"
    )


class IdentifyRequest(Message):
    """Identify a user with a person: as a viewer, the user sees the items about that person."""

    model_config = example({"user": story.ANA_USER, "person": story.ANA})

    user: Id = Field(description="Uid of the user")
    person: Id = Field(description="Uid of the user's person")
    holds: StrictBool = Field(True, description="False: the two are different, whatever items say")


class RenameRequest(Message):
    """Rename an entity. Its uid stays, and it is still found by its former names."""

    model_config = example({"name": "Mara the Raven"})

    name: Annotated[Prose, Field(description="The name to show from now on")]


class IdentityChange(Message):
    """Outcome of a merge, a split or a rename. ``changed`` is false if it had no effect."""

    model_config = example({"entity": graph.RAVEN, "changed": True})

    entity: Entity
    changed: StrictBool
