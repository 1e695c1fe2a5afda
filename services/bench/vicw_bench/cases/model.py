"""A case: requests in order, and what is right about their answers. ``docs/bench.md`` describes the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vicw_bench.sets import BenchDataError
from vicw_shared.wire.validation_errors import describe

type Ids = tuple[str, ...]


class Right(BaseModel):
    """What holds of a right answer; everything that is given must hold. Ids are the caller's, else uids."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: int | None = None
    """Status of HTTP; without it every success."""
    first: Ids = ()
    """These are the first results, in any order."""
    among: dict[int, Ids] = Field(default_factory=dict)
    """All of these are among so many first results."""
    at_least: dict[int, Ids] = Field(default_factory=dict)
    """At least so many of these are results."""
    before: tuple[tuple[str, str], ...] = ()
    """The one is a result, and the other, if it is one, comes later."""
    absent: Ids = ()
    results: int | None = None
    """Number of results."""
    text_contains: Ids = ()
    text_lacks: Ids = ()
    fields: dict[str, Any] = Field(default_factory=dict)
    """Value of each field, by its path: ``results[0].timestamp``."""
    present: Ids = ()
    """Paths of fields that are there and neither null nor empty."""
    any_of: tuple[Right, ...] = ()
    """At least one of these holds."""


class CaseRequest(BaseModel):
    """One request; ``right`` is about its answer."""

    model_config = ConfigDict(frozen=True)

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    path: str = Field(pattern="^/")
    body: Any = None
    right: Right | None = None


class Case(BaseModel):
    """A case; ``right`` is about the answer of the last request. Without any it is shown, not judged."""

    model_config = ConfigDict(frozen=True)

    id: str
    title: str = ""
    requests: tuple[CaseRequest, ...] = Field(min_length=1)
    expect: str = ""
    """What is right, in words; they are shown."""
    right: Right | None = None

    @property
    def expectations(self) -> tuple[Right | None, ...]:
        """What is right about the answer of each request."""
        *others, last = (request.right for request in self.requests)
        return (*others, last or self.right)

    @property
    def judged(self) -> bool:
        """Whether anything says what is right."""
        return any(self.expectations)


def load_cases(folder: Path) -> list[Case]:
    """Return the cases of a folder (``*.json``) in the order of their file names, in which they are replayed.

    Raises BenchDataError, naming the file and the field, for a file that is no case, and for a folder without any.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise BenchDataError(f"{folder} holds no case: a case is a file *.json (docs/bench.md)")
    return [_load(file) for file in files]


def _load(file: Path) -> Case:
    try:
        content = json.loads(file.read_text("utf-8"))
        if isinstance(content, dict):
            content.setdefault("id", file.stem)
        return Case.model_validate(content)
    except ValidationError as error:
        problems = describe(error.errors(include_url=False, include_input=False), root="the file")
        raise BenchDataError(
            f"{file}: " + "; ".join(f"{one.field} {one.problem}. {one.fix}" for one in problems)
        ) from None
    except ValueError as error:  # no JSON, or no UTF-8
        raise BenchDataError(f"{file}: {error}") from None
