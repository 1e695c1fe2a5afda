"""``GET /sleep``, ``POST /sleep/undo`` and ``GET /check``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, Timestamp, example
from vicw_shared.wire.examples import story

_MAX_PAGE = 1000
_STEP: JsonDict = {
    "id": story.STEP,
    "task": "dream",
    "outcome": "done",
    "at": "2026-01-21T04:00:00Z",
    "subject": story.BETRAYAL_UID,
    "undo_until": "2026-02-20T04:00:00Z",
    "context": story.NOVEL,
    "reason": None,
}
type SleepTask = Literal["consolidate", "dream", "resolve", "forget", "expire"]


class SleepQuery(Message):
    """A page of the sleep cycle's log."""

    task: SleepTask | None = Field(None, description="Only steps of this job; `forget` evicts")
    after: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="`next` of the page before", examples=[story.CURSOR]
    )
    limit: Annotated[int, Field(ge=1, le=_MAX_PAGE)] = Field(50, description="Number of steps")


class SleepJob(Message):
    """A job: when it runs next, and its last run."""

    job: str
    stopped_by: str | None = Field(description="The setting that keeps it from running; null: none does")
    next_at: Timestamp | None = Field(description="null: it is stopped, or no schedule but its work decides")
    running: StrictBool
    began: Timestamp | None = Field(description="Begin of the last run; null: it has not run yet")
    at: Timestamp | None = Field(description="End of the last run, or what it reported last")
    slices: StrictInt = Field(description="Parts of the last run that are done")
    error: str | None = Field(description="Why the last run ended early")


class SleepStep(Message):
    """What a job did with one node."""

    model_config = example(_STEP)

    id: str
    task: str
    outcome: Literal["done", "refused", "undone"]
    at: Timestamp
    subject: str = Field(description="Uid of the node that was made or retired, or that a refused step was about")
    undo_until: Timestamp | None = Field(description="Until when the step can be undone; null: it cannot be")
    context: str | None = Field(description="null: the key lacks the right `retrieve`")
    reason: str | None = Field(description="Why it was refused or could not be undone; null as `context`")


class SleepState(Message):
    """The jobs of the store, and the steps of the key's tenant, the latest first."""

    model_config = example(
        {
            "jobs": [
                {
                    "job": "consolidation",
                    "stopped_by": None,
                    "next_at": "2026-01-22T03:00:00Z",
                    "running": False,
                    "began": "2026-01-21T03:00:00Z",
                    "at": "2026-01-21T03:00:02Z",
                    "slices": 1,
                    "error": None,
                }
            ],
            "steps": [_STEP],
            "next": None,
        }
    )

    jobs: tuple[SleepJob, ...]
    steps: tuple[SleepStep, ...]
    next: str | None = Field(description="Where the next page of steps begins; null: this is the last")


class SleepUndo(Message):
    """A step to undo."""

    model_config = example({"step": story.STEP})

    step: Id = Field(description="Its id, from `GET /sleep`")


class RunnableJob(StrEnum):
    """A job that can be started by hand."""

    CONSOLIDATION = "consolidation"
    DREAM = "dream"
    RESOLVE = "resolve"


class SleepRun(Message):
    """A job to run now, over all tenants, as its schedule would."""

    model_config = example({"job": "consolidation"})

    job: RunnableJob


class SleepRunStarted(SleepRun):
    """A job that begins soon; `GET /sleep` shows its run."""


class Comparison(Message):
    """The last comparison of the two stores."""

    began: Timestamp
    at: Timestamp = Field(description="When it ended, or what it reported last")
    running: StrictBool
    error: str | None = Field(description="Why it ended early; null: it has not")


class Drift(Message):
    """What the last comparison with a difference found. It was repaired by that comparison."""

    began: Timestamp
    at: Timestamp = Field(description="When the last difference was found")
    missing: StrictInt = Field(description="Passages without their point")
    stale: StrictInt = Field(description="Points that differ from the graph")
    orphaned: StrictInt = Field(description="Points without a passage")


class CheckState(Message):
    """Whether the two stores agree; numbers are of the key's tenant alone."""

    model_config = example(
        {
            "compared": {
                "began": "2026-01-21T02:00:00Z",
                "at": "2026-01-21T02:00:01Z",
                "running": False,
                "error": None,
            },
            "drift": None,
            "rebuilding": None,
            "passages_waiting": 0,
        }
    )

    compared: Comparison | None = Field(description="null: they have not been compared yet")
    drift: Drift | None = Field(description="null: no comparison has found a difference in what the tenant has")
    rebuilding: Timestamp | None = Field(description="Since when a lost vector index is rebuilt; null: it is whole")
    passages_waiting: StrictInt = Field(description="Passages that are not indexed yet")
