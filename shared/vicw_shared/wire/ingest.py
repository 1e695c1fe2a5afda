"""``POST /ingest`` and ``GET /ingest/jobs/{id}``."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vicw_shared.model import Label, Sensitivity
from vicw_shared.text import flaw
from vicw_shared.wire.base import (
    Id,
    Message,
    Prose,
    RawText,
    StrictBool,
    StrictInt,
    Timestamp,
    Unit,
    ZonedTimestamp,
    example,
)
from vicw_shared.wire.examples import items, story
from vicw_shared.wire.extraction import Extraction
from vicw_shared.wire.knowledge import LinkProblem, PageRef

_MAX_DEPTH = 100
"""Maximum nesting of metadata: the serialisers that it passes fail at a few hundred levels, each in its own way."""


def _storable_json(value: Any) -> Any:
    stack = [(value, 1)]
    while stack:
        part, depth = stack.pop()
        if depth > _MAX_DEPTH:
            raise PydanticCustomError("too_deep", f"is nested deeper than {_MAX_DEPTH} levels")
        if isinstance(part, str):
            if problem := flaw(part):
                raise PydanticCustomError("unstorable", "{problem}", {"problem": problem})
        elif isinstance(part, float) and not math.isfinite(part):
            raise PydanticCustomError("finite_number", "contains NaN or Infinity, which JSON does not know")
        elif isinstance(part, dict):
            stack += [(inner, depth + 1) for inner in (*part.keys(), *part.values())]
        elif isinstance(part, list):
            stack += [(inner, depth + 1) for inner in part]
    return value


Metadata = Annotated[dict[str, Any], AfterValidator(_storable_json)]


class Extract(StrEnum):
    """The source of an item's extraction."""

    AUTO = "auto"
    NONE = "none"
    CALLER = "caller"
    LLM = "llm"
    RULES = "rules"


class Tier(StrEnum):
    """Named levels of importance. The first two also protect the item."""

    CONSTITUTIONAL = "constitutional"
    CRITICAL = "critical"
    IMPORTANT = "important"
    NORMAL = "normal"
    TEMPORARY = "temporary"


def _share_or_tier(value: Any, weigh: ValidatorFunctionWrapHandler) -> Any:
    try:
        return weigh(value)
    except ValidationError:
        problem = f"should be a number from 0 to 1, or one of {', '.join(Tier)}"
        raise PydanticCustomError("importance", "{said}", {"said": problem}) from None


Importance = Annotated[Unit | Tier, WrapValidator(_share_or_tier)]
FlowStep = Annotated[StrictInt, Field(ge=-(2**53), le=2**53)]


def _needed_text(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """Return the text, or "" of a patch without one. A missing text of a whole item is a missing field."""
    if value is not _NO_TEXT:
        return check(value)
    if info.data.get("merge"):
        return ""
    raise PydanticCustomError("missing", "Field required")


_NO_TEXT: Any = object()


class Item(Message):
    """One item to store: a turn, a scene, a document, a function, a note.

    An item with the id of a stored one replaces it as a whole: fields that are left out get their defaults. With
    ``merge`` it is a patch of the stored one instead (JSON Merge Patch, RFC 7396), and null removes a field.
    """

    id: Id | None = Field(None, description="Your id; makes the item idempotent inside its context")
    merge: StrictBool = Field(
        False,
        description="Change only the fields that are given, of the stored item with this id, or this uid if it has no "
        "id: null removes a field, `metadata` is merged key by key. false: this is the item now",
    )
    text: Annotated[Prose, WrapValidator(_needed_text)] = Field(
        default_factory=lambda: _NO_TEXT, validate_default=True, description="Needed, unless `merge` is true"
    )
    subtype: Id | None = Field(None, description='What it is: "message", "scene", "function", "document", …')
    name: Prose | None = Field(None, description="Title")
    speaker: Prose | None = None
    user: Id | None = Field(
        None,
        description="Your id of the speaking user. The user is then identified with the speaker, and sees items "
        "about that person as a viewer",
    )
    timestamp: ZonedTimestamp | None = Field(
        None, description='When it happened. "Yesterday" in the text is a day of the zone of its offset'
    )
    flow_id: Id | None = Field(None, description="Logical thread; default: the request's")
    flow_step: FlowStep | None = Field(None, description="Your own position in the flow; orders NEXT")
    tags: tuple[Id, ...] = ()
    bucket: Id | None = None
    source: Id | None = Field(None, description="Where it came from: a path, a URL")
    metadata: Metadata = Field(default_factory=dict, description="Any JSON object; returned unchanged")
    sensitivity: Sensitivity = Sensitivity.PUBLIC
    portable: StrictBool = Field(True, description="May be seen outside its own context")
    about: tuple[Id, ...] = Field((), description="Subjects: names or uids of people, users, chats")
    importance: Importance | None = Field(
        None, description="A number from 0 to 1, or a tier: constitutional and critical items are protected"
    )
    protected: StrictBool = Field(False, description="Never consolidated, never evicted")
    trigger_phrases: tuple[Prose, ...] = Field(
        (),
        description="Phrases that trigger the item: a question that contains all words of one phrase in a row finds it",
    )
    expires_at: Timestamp | None = None
    extraction: Extraction | None = Field(
        None,
        description="Extraction by the caller. An error if `extract` is `none`, unless all lists are empty",
    )
    page: PageRef | None = Field(None, description="Which page of a knowledge folder it is")
    _removed: frozenset[str] = PrivateAttr(frozenset())

    @property
    def removed(self) -> frozenset[str]:
        """Fields that a patch sets back to their defaults by null."""
        return self._removed

    @model_validator(mode="wrap")
    @classmethod
    def _take_nulls(cls, data: Any, validate: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, dict) or data.get("merge") is not True:
            return validate(data)
        nulls = {name for name in _REMOVABLE if name in data and data[name] is None}
        item = validate({name: value for name, value in data.items() if name not in nulls})
        item._removed = frozenset(nulls)
        return item

    @model_serializer(mode="wrap")
    def _give_nulls(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialise(self)
        return fields | dict.fromkeys(self._removed)


_REMOVABLE = frozenset(Item.model_fields) - {"id", "merge", "text"}


class IngestRequest(Message):
    """Items to store in one context."""

    model_config = example(items.INGEST_SCENES, items.INGEST_NOTES)

    context: Id = Field(description='One body of memories: "Python Project Alpha", "Fantasy Novel"')
    domain: Prose | None = Field(None, description="coding, creative, general, or your own; default: the context's")
    flow_id: Id | None = Field(None, description="Logical thread of the items")
    wait: StrictBool = Field(True, description="Answer when /retrieve finds the items; false answers 202 at once")
    extract: Extract = Extract.AUTO
    items: Annotated[tuple[Item, ...], Field(min_length=1)]


class ItemStatus(StrEnum):
    """Outcome of storing an item."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    UPDATED = "updated"
    LINKED = "linked"


class ExtractionState(StrEnum):
    """State of an item's extraction by a language model. In every state the item is stored and found."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


class NodeRef(Message):
    """A node that was made from an item, or that its edges lead to."""

    uid: str
    label: Label
    subtype: str
    name: str


class MaskedSecret(Message):
    """A kind of secret that was masked in a field."""

    field: str = Field(description="Its place in the request, such as `items[3].metadata.config.key`")
    kind: str = Field(description="Its kind, such as `aws-access-key`")


class Repetition(StrEnum):
    """How an item repeats stored items: as a copy, or as text of an answer of /retrieve."""

    COPY = "copy"
    ANSWER = "answer"


class RepeatedItem(Message):
    """A stored item that an item repeats."""

    uid: str
    id: RawText | None = Field(description="The id that its caller gave it")
    context: str
    how: Repetition


class MeantItem(Message):
    """A stored item that a wish to forget may mean."""

    uid: str
    id: RawText | None = Field(description="Your id")


class ForgetWish(Message):
    """A text asks to forget what was said. Nothing is forgotten by it: retract or erase what you choose."""

    may_mean: tuple[MeantItem, ...] = Field(
        (), description="Items of the same speaker and context that it may mean, best first, five at most"
    )


class IngestedItem(Message):
    """The outcome of one item, in the order of the request.

    A `linked` item only repeats stored text: it is not stored itself, and ``uid`` and ``label`` are those of the first
    of its ``sources``.
    """

    id: RawText | None
    uid: str
    status: ItemStatus
    label: Label
    flow_id: str | None
    flow_step: int | None
    nodes: tuple[NodeRef, ...] = Field(description="Its passages, speaker, tags, extraction")
    version: StrictInt | None = Field(None, description="Its version, from 1; null for a `linked` item without an id")
    dropped: tuple[str, ...] = Field(
        (),
        description="Fields that its earlier version had and that this one, which replaces it as a whole, does not: "
        "send `merge: true` to keep what is left out",
    )
    masked: tuple[MaskedSecret, ...] = Field((), description="Masked secrets: only their kind was stored")
    extraction: ExtractionState | None = Field(
        None,
        description="Extraction by a language model: `pending` (queued or retried), `done`, `failed` (given up); "
        "null if none is configured",
    )
    sources: tuple[RepeatedItem, ...] = Field((), description="Stored items that it repeats")
    forget: ForgetWish | None = Field(None, description="What it asks to forget; null if it does not")
    links: tuple[LinkProblem, ...] = Field((), description="Of a page: its broken links. Later pages may resolve them")


class IngestResponse(Message):
    """201: /retrieve finds all items. 202: all items are durable; the ``job`` is done when /retrieve finds them."""

    model_config = example(
        {
            "context": story.NOVEL,
            "context_uid": story.NOVEL_UID,
            "domain": "creative",
            "job": None,
            "items": [items.INGESTED_ITEM],
        }
    )

    context: str
    context_uid: str
    domain: str
    job: str | None = None
    items: tuple[IngestedItem, ...]


class PassageFailure(Message):
    """A passage that could not be embedded yet. It is retried at increasing intervals, unless it is dead."""

    id: RawText | None = Field(description="The item's id, if it has one")
    uid: str = Field(description="The item's uid")
    passage: str = Field(description="The passage's uid")
    tries: int
    error: str = Field(description="Error of the latest try")
    since: Timestamp | None = Field(None, description="Time of the first failure")
    dead: StrictBool = Field(False, description="Not retried until the operator replays it")


class JobStatus(Message):
    """Progress of a job."""

    model_config = example(
        {
            "job": story.JOB,
            "status": "running",
            "created_at": story.STORED_AT,
            "items": 2,
            "passages_waiting": 1,
            "result": None,
        }
    )

    job: str
    status: Literal["running", "done", "failed"] = Field(
        description="`done`: /retrieve finds everything; `failed`: everything except the dead passages"
    )
    created_at: Timestamp
    items: int = Field(description="Items of the job")
    passages_waiting: int = Field(description="Passages that /retrieve does not find yet")
    passages_failed: int = Field(0, description="Dead passages: /retrieve does not find them")
    extractions_waiting: int = Field(0, description="Items with a pending extraction")
    extractions_failed: int = Field(0, description="Items whose extraction failed for good")
    failures: tuple[PassageFailure, ...] = Field((), description="Passages that have failed, at most a hundred")
    result: IngestResponse | None = Field(description="The response of the job; null while it is running")
