"""Schema of a model's answer: the content of the wire's ``Extraction`` plus the source of each part in the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from vicw_ingest.extraction.caller import DERIVED_TYPES
from vicw_shared.model import Category, EdgeRegistry, EdgeType, Label
from vicw_shared.model.edges import IN_PAYLOAD
from vicw_shared.wire.base import Id, Prose, Unit

_LABEL_NAMES = {Label.ENTITY: "entity", Label.CONCEPT: "concept", Label.EVENT: "event"}
_NOT_FROM_TEXT = DERIVED_TYPES | IN_PAYLOAD | {"IS_PERSON", "MENTIONS"}
"""Types that decide visibility or that VICW derives; neither a text nor a model may set them."""
_MAX_PROBLEMS = 10


def _none_if_blank(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


MaybeProse = Annotated[Prose | None, BeforeValidator(_none_if_blank)]


class _Part(BaseModel):
    """A part of an answer. Further fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class AnswerEntity(_Part):
    """An entity or a concept."""

    id: Id
    name: Prose
    aliases: tuple[Prose, ...] = ()
    subtype: MaybeProse = None
    description: MaybeProse = None


class AnswerEvent(_Part):
    """An event, with a quotation of the text that states it."""

    id: Id
    name: Prose
    quote: MaybeProse = None
    subtype: MaybeProse = None
    time: MaybeProse = None


class AnswerRelation(_Part):
    """A relation between two ids."""

    source: Id
    type: Id
    target: Id
    certainty: Unit | None = None
    desc: MaybeProse = None


class AnswerClaim(_Part):
    """A claim about the value of an attribute, current or ended."""

    quote: Prose
    subject: Id
    of: MaybeProse = None
    attribute: Prose
    value: MaybeProse = None
    changed: bool = False
    ended: bool = False
    heard_from: MaybeProse = None


class _Form(_Part):
    """The whole answer, from which the schema is generated."""

    entities: tuple[AnswerEntity, ...]
    concepts: tuple[AnswerEntity, ...]
    events: tuple[AnswerEvent, ...]
    relations: tuple[AnswerRelation, ...]
    claims: tuple[AnswerClaim, ...]


@dataclass(slots=True)
class ParsedAnswer:
    """The well-formed parts of an answer, and the problems of the rest."""

    entities: list[AnswerEntity] = field(default_factory=list)
    concepts: list[AnswerEntity] = field(default_factory=list)
    events: list[AnswerEvent] = field(default_factory=list)
    relations: list[AnswerRelation] = field(default_factory=list)
    claims: list[AnswerClaim] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def is_useless(self) -> bool:
        """Whether the answer has problems and no well-formed part."""
        return bool(self.problems) and not any(getattr(self, kind) for kind in _KINDS)


_KINDS: dict[str, TypeAdapter[Any]] = {
    "entities": TypeAdapter(AnswerEntity),
    "concepts": TypeAdapter(AnswerEntity),
    "events": TypeAdapter(AnswerEvent),
    "relations": TypeAdapter(AnswerRelation),
    "claims": TypeAdapter(AnswerClaim),
}


def extractable_types(registry: EdgeRegistry) -> tuple[EdgeType, ...]:
    """Return the edge types that may be extracted from a text."""
    return tuple(
        kind
        for kind in registry
        if kind.name not in _NOT_FROM_TEXT
        and kind.category is not Category.BRIDGE
        and any(pair[0] in _LABEL_NAMES and pair[1] in _LABEL_NAMES for pair in kind.pairs)
    )


def describe_types(types: Iterable[EdgeType]) -> str:
    """Return a line for each type: the labels of its source and target, for the prompt."""
    return "\n".join(f"{kind.name}: {_ends(kind, 0)} to {_ends(kind, 1)}" for kind in types)


def _ends(kind: EdgeType, side: int) -> str:
    labels = {pair[side] for pair in kind.pairs}
    return " or ".join(name for label, name in _LABEL_NAMES.items() if label in labels)


def schema_of(types: Iterable[EdgeType], max_items: int) -> dict[str, Any]:
    """Return the JSON schema of an answer with at most ``max_items`` parts of a kind.

    Only keywords that every server supports: all properties are required, a missing value is null.
    """
    schema: dict[str, Any] = _portable_schema(_Form.model_json_schema())
    schema["$defs"]["AnswerRelation"]["properties"]["type"]["enum"] = [kind.name for kind in types]
    for kind in _KINDS:
        schema["properties"][kind]["maxItems"] = max_items
    return schema


def _portable_schema(part: Any) -> Any:
    if isinstance(part, list):
        return [_portable_schema(one) for one in part]
    if not isinstance(part, dict):
        return part
    schema = {key: _portable_schema(value) for key, value in part.items() if key in _KEYWORDS}
    for named in ("properties", "$defs"):
        if named in part:
            schema[named] = {name: _portable_schema(value) for name, value in part[named].items()}
    if "properties" in part:
        schema |= {"required": list(part["properties"]), "additionalProperties": False}
    return schema


_KEYWORDS = frozenset({"type", "items", "anyOf", "$ref", "enum"})


def parse(text: str) -> ParsedAnswer:
    """Parse the first JSON object of an answer; text around it is ignored. Malformed parts become ``problems``."""
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(text, start) if start >= 0 else (None, 0)
    except (ValueError, RecursionError) as error:
        detail = error.args[0] if isinstance(error, ValueError) else "nested too deep"
        return ParsedAnswer(problems=[f"it is not JSON: {detail}"])
    if not isinstance(value, Mapping):
        return ParsedAnswer(problems=["it is no JSON object"])
    answer = ParsedAnswer()
    if not any(kind in value for kind in _KINDS):
        answer.problems.append(f"it has none of {', '.join(_KINDS)}")
    for kind, adapter in _KINDS.items():
        parts = value.get(kind)
        if parts is not None and not isinstance(parts, list):
            answer.problems.append(f"{kind} is no list")
            continue
        for number, part in enumerate(parts or ()):
            try:
                getattr(answer, kind).append(adapter.validate_python(part))
            except ValidationError as error:
                where = f"{kind}[{number}]"
                answer.problems += [f"{where}{_path(fault['loc'])}: {fault['msg']}" for fault in error.errors()]
            except RecursionError:
                answer.problems.append(f"{kind}[{number}] is nested too deep")
    return answer


def answer_problems(answer: ParsedAnswer) -> str:
    """Return the problems of an answer, worded for the model."""
    return "\n".join(f"- {problem}" for problem in answer.problems[:_MAX_PROBLEMS])


def _path(parts: Iterable[object]) -> str:
    return "".join(f".{part}" for part in parts)
