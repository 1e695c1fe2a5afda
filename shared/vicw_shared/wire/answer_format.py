"""Format and length limit of an answer's text."""

from __future__ import annotations

import re
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from vicw_shared.wire.base import Message, Prose, StrictInt

DEFAULT_BUDGET_CHARS = 8000
NOTHING_OF = "Nothing is known of "
"""Beginning of a line before the results: nothing is known of what is asked, or of the time that it names."""
UNSURE_LINE = "Unsure: perhaps nothing here answers the question."
AMBIGUOUS_LINE = "The question fits several domains ({domains}): the results of each stand apart."
DOMAIN_HEADING = "In {domain}:"
"""Line before the results of a domain of which the ambiguous line tells."""
PENDING_LINE = "Some memories are not indexed yet and may be missing here."
_PLACEHOLDERS = frozenset(
    {"rank", "head", "id", "address", "speaker", "date", "context", "domain", "flow", "kind", "name", "text"}
)
PLACE = re.compile(r"\{(\w+)\}")
"""A placeholder in a template: a word in braces."""


class Budget(Message):
    """Maximum length of the answer's ``text``: in characters, or in tokens of three bytes of UTF-8.

    Every model has its own tokenizer; English prose usually has about four characters per token, so the estimate errs
    on the safe side.
    """

    chars: Annotated[StrictInt, Field(ge=1)] | None = Field(None, description="null: 8000, if tokens are not given")
    tokens: Annotated[StrictInt, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _require_one(self) -> Self:
        if self.chars is not None and self.tokens is not None:
            raise PydanticCustomError("budget", "has chars and tokens; give one of them")
        return self


class Template(Message):
    """Template of the answer's ``text``. Only these placeholders are replaced; other braces stay."""

    whole: Prose = Field("{results}", description="Must have {results}, once")
    result: Prose | None = Field(
        None,
        description="One result; must have {text}, may have {rank}, {head} (its metadata in one line, with the id "
        "if no other place has it), {id}, {address} (its id, else its uid), {speaker}, {date}, "
        "{context}, {domain}, {flow}, {kind}, {name}; null: [{rank}] {head}, then {text} below",
    )

    @field_validator("whole")
    @classmethod
    def _check_whole(cls, whole: str) -> str:
        if PLACE.findall(whole) != ["results"]:
            raise PydanticCustomError("places", "must have the place {results} once, and no other")
        return whole

    @field_validator("result")
    @classmethod
    def _check_result(cls, result: str | None) -> str | None:
        if result is not None:
            places = set(PLACE.findall(result))
            if unknown := sorted(places - _PLACEHOLDERS):
                context = {"place": unknown[0], "places": ", ".join(sorted(_PLACEHOLDERS))}
                raise PydanticCustomError("places", "has an unknown place, {place}; there are {places}", context)
            if "text" not in places:
                raise PydanticCustomError("places", "must have the place {text}")
        return result
