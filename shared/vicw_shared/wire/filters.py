"""The filter language: one JSON form for every request that chooses items by their fields.

A filter is an object of conditions, which must all hold. A condition is a value (``"context": "Support"``) or an object
of operators (``"importance": {"gte": 0.5}``). The groups ``all``, ``any`` and ``not`` nest filters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictInt,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from vicw_shared.wire.base import Message, RawText, Timestamp
from vicw_shared.wire.examples import story

METADATA = "metadata."
"""Prefix of the fields of metadata: the rest is the key, whatever characters it has."""
_OPERATORS = {"in_": "in"}


def _value_is_eq(value: Any) -> Any:
    return value if isinstance(value, dict | Message) else {"eq": value}


class _Match(Message):
    """Operators on one field, which must all hold."""

    model_config = ConfigDict(serialize_by_alias=True)

    @model_validator(mode="after")
    def _require_an_operator(self) -> Self:
        if not self.model_fields_set:
            names = ", ".join(_OPERATORS.get(name, name) for name in type(self).model_fields)
            raise PydanticCustomError("no_operator", "has no operator ({names})", {"names": names})
        if any(getattr(self, name) is None for name in self.model_fields_set):
            raise PydanticCustomError("null_operator", "compares with null")
        return self


class TextMatch(_Match):
    """Operators on a name, in its exact spelling."""

    eq: RawText | None = None
    in_: Annotated[tuple[RawText, ...], Field(min_length=1)] | None = Field(None, alias="in")
    prefix: Annotated[RawText, Field(min_length=1)] | None = None
    exists: StrictBool | None = None


class TagsMatch(_Match):
    """Operators on tags, in any casing."""

    any: Annotated[tuple[RawText, ...], Field(min_length=1)] | None = None
    all: Annotated[tuple[RawText, ...], Field(min_length=1)] | None = None
    none: Annotated[tuple[RawText, ...], Field(min_length=1)] | None = None


Number = Annotated[float, Strict()]


class NumberMatch(_Match):
    """Operators on a number."""

    eq: Number | None = None
    gt: Number | None = None
    gte: Number | None = None
    lt: Number | None = None
    lte: Number | None = None
    exists: StrictBool | None = None


class TimeMatch(_Match):
    """Operators on a time: `gte` and `lt` give a window without its end."""

    gt: Timestamp | None = None
    gte: Timestamp | None = None
    lt: Timestamp | None = None
    lte: Timestamp | None = None
    exists: StrictBool | None = None


def _scalar(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(value)
    except ValidationError as error:
        if any(one["type"] == "unstorable" for one in error.errors()):
            raise PydanticCustomError("unstorable", "contains a character that is never stored") from None
        raise PydanticCustomError("scalar", "should be a text, a number, or true or false") from None


Scalar = Annotated[StrictBool | StrictInt | Number | RawText, WrapValidator(_scalar)]
Ordered = Annotated[StrictInt | Number | RawText, WrapValidator(_scalar)]


class ValueMatch(_Match):
    """Operators on a value of metadata. Of a list, one element suffices. `"3"` is not `3`, and `true` is not `1`."""

    eq: Scalar | None = None
    in_: Annotated[tuple[Scalar, ...], Field(min_length=1)] | None = Field(None, alias="in")
    gt: Ordered | None = Field(None, description="Numbers are compared with numbers, text with text")
    gte: Ordered | None = None
    lt: Ordered | None = None
    lte: Ordered | None = None
    exists: StrictBool | None = Field(None, description="Whether the key has a value that is not null")

    @model_validator(mode="after")
    def _require_one_type(self) -> Self:
        bounds = [bound for bound in (self.gt, self.gte, self.lt, self.lte) if bound is not None]
        if len({isinstance(bound, str) for bound in bounds}) > 1:
            raise PydanticCustomError("mixed_bounds", "has bounds of two types, a number and a text")
        return self


def _tags(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return {"any": value}
    return value if isinstance(value, dict | Message) else {"any": [value]}


Name = Annotated[TextMatch, BeforeValidator(_value_is_eq, json_schema_input_type=RawText | TextMatch)]
Importance = Annotated[NumberMatch, BeforeValidator(_value_is_eq, json_schema_input_type=Number | NumberMatch)]
Tags = Annotated[TagsMatch, BeforeValidator(_tags, json_schema_input_type=RawText | tuple[RawText, ...] | TagsMatch)]
MetadataKey = Annotated[RawText, Field(min_length=1)]
Value = Annotated[ValueMatch, BeforeValidator(_value_is_eq, json_schema_input_type=Scalar | ValueMatch)]

_EXAMPLE: JsonDict = {
    "context": story.NOVEL,
    "subtype": {"in": ["scene", "message"]},
    "tags": {"any": ["amulet"], "none": ["draft"]},
    "metadata.chapter": {"gte": 3},
    "told": {"gte": "2026-01-01T00:00:00Z", "lt": "2026-02-01T00:00:00Z"},
    "any": [{"importance": {"gte": 0.5}}, {"not": {"source": {"prefix": "mail/"}}}],
}


class Filter(Message):
    """Conditions on items, which must all hold; without any, every item passes.

    A field named `metadata.KEY` is a condition on that key of the metadata. An item without the field passes no
    condition on it, except `"exists": false`.
    """

    model_config = ConfigDict(
        extra="allow",
        serialize_by_alias=True,
        json_schema_extra={
            "examples": [_EXAMPLE],
            "patternProperties": {r"^metadata\.": {"$ref": "#/components/schemas/ValueMatch"}},
            "additionalProperties": False,
        },
    )
    __pydantic_extra__: dict[str, Value]

    context: Name | None = None
    domain: Name | None = Field(None, description="`code` and `coding` are one, as everywhere")
    label: Name | None = Field(None, description="Event or Entity")
    subtype: Name | None = None
    speaker: Name | None = None
    user: Name | None = Field(None, description="Your id of the speaking user")
    flow: Name | None = None
    source: Name | None = None
    id: Name | None = Field(None, description="Your id of the item, unique only inside a context")
    uid: Name | None = None
    sensitivity: Name | None = None
    tags: Tags | None = None
    importance: Importance | None = None
    told: TimeMatch | None = Field(None, description="Its `timestamp`; of an item without one, its arrival")
    happened: TimeMatch | None = Field(None, description="The `timestamp` that its caller gave; it may have none")
    arrival: TimeMatch | None = Field(None, description="When it was stored")
    all: tuple[Filter, ...] | None = Field(None, min_length=1, description="Filters that must all pass it")
    any: tuple[Filter, ...] | None = Field(None, min_length=1, description="Filters of which one must pass it")
    not_: Filter | None = Field(None, alias="not", description="A filter that must not pass it")

    @model_validator(mode="before")
    @classmethod
    def _require_known_fields(cls, value: Any) -> Any:
        if isinstance(value, dict):
            known = [field.alias or name for name, field in cls.model_fields.items()]
            for name in value:
                if not (name in known or (isinstance(name, str) and len(name) > len(METADATA) and _is_metadata(name))):
                    fields = ", ".join((*known, f"{METADATA}KEY"))
                    raise PydanticCustomError(
                        "filter_field",
                        "has no field {name}. Its fields are {fields}",
                        {"name": repr(name), "fields": fields},
                    )
        return value

    @model_validator(mode="after")
    def _require_values(self) -> Self:
        empty = [name for name in sorted(self.model_fields_set) if getattr(self, name, None) is None]
        if empty:
            raise PydanticCustomError("null_condition", "compares {name} with null", {"name": empty[0].rstrip("_")})
        return self

    @property
    def metadata(self) -> dict[str, ValueMatch]:
        """The conditions on metadata, by key."""
        return {name.removeprefix(METADATA): match for name, match in (self.__pydantic_extra__ or {}).items()}

    @property
    def groups(self) -> Iterator[Filter]:
        """The filters nested in it."""
        yield from (*(self.all or ()), *(self.any or ()), *((self.not_,) if self.not_ is not None else ()))

    def depth(self) -> int:
        """Return the levels of groups: 1 without any."""
        return 1 + max((group.depth() for group in self.groups), default=0)

    def size(self) -> int:
        """Return the number of values that an item is compared with."""
        own = [getattr(self, name) for name in type(self).model_fields if name not in {"all", "any", "not_"}]
        matches = [match for match in (*own, *self.metadata.values()) if match is not None]
        return sum(map(_values_of, matches)) + sum(group.size() for group in self.groups)


def _is_metadata(name: str) -> bool:
    return name.startswith(METADATA)


def _values_of(match: _Match) -> int:
    values = (getattr(match, name) for name in match.model_fields_set)
    return sum(len(value) if isinstance(value, tuple) else 1 for value in values)
