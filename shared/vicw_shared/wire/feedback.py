"""``POST /feedback``, and the feedback that an explained answer shows."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Id, Message, Prose, StrictInt, Timestamp, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.viewer import Viewer

_LISTED: JsonDict = {
    "uid": story.OLD_HOME_UID,
    "context": story.NOVEL,
    "useful": 0,
    "wrong": 1,
    "at": story.LATER_AT,
    "latest": [{"verdict": "wrong", "query": "Where does Ana live?", "at": story.LATER_AT}],
}
MAX_LISTED = 100
"""Items of a page of what was said: each has VICW_MAX_FEEDBACK questions of VICW_MAX_FEEDBACK_CHARS."""


class Verdict(StrEnum):
    """What somebody says of an item as an answer."""

    USEFUL = "useful"
    WRONG = "wrong"


class FeedbackRequest(Message):
    """A verdict on an item that was shown for a question."""

    model_config = example(
        {
            "context": story.NOVEL,
            "item": story.OLD_HOME,
            "verdict": "wrong",
            "query": "Where does Ana live?",
            "viewer": {"user": "ana"},
        }
    )

    item: Id = Field(description="Uid of the result; with `context` also your id. It is of this version of the item")
    context: Id | None = Field(None, description="The context of the item; needed for your id")
    verdict: Verdict
    query: Prose = Field(description="The question; secrets in it are masked")
    viewer: Viewer | None = Field(
        None, description="Who says so, as in `/retrieve`: it must see the item. null: the application itself"
    )


class Feedback(Message):
    """The verdicts on an item so far."""

    model_config = example({"uid": story.OLD_HOME_UID, "context": story.NOVEL, "useful": 0, "wrong": 1})

    uid: str
    context: str
    useful: StrictInt
    wrong: StrictInt


class JudgedQuestion(Message):
    """A verdict on an item for a question."""

    verdict: Verdict
    query: str
    at: Timestamp


class FeedbackQuery(Message):
    """A page of what was said of items."""

    context: Id | None = Field(None, description="Only items of this context", examples=[story.NOVEL])
    verdict: Verdict | None = Field(None, description="Only items of which this was said")
    after: Annotated[str, Field(max_length=200)] | None = Field(
        None, description="`next` of the page before", examples=[story.CURSOR]
    )
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = Field(50, description="Number of items")


class ResultFeedback(Message):
    """What was said of a result."""

    useful: StrictInt
    wrong: StrictInt
    latest: tuple[JudgedQuestion, ...] = Field(
        description="The latest verdicts, at most VICW_MAX_FEEDBACK; empty for a viewer, who sees no question of others"
    )


class ListedFeedback(Feedback):
    """What was said of an item: the numbers, and the latest verdicts with their questions."""

    model_config = example(_LISTED)

    at: Timestamp = Field(description="When it was said last")
    latest: tuple[JudgedQuestion, ...] = Field(description="The latest verdicts, at most VICW_MAX_FEEDBACK")


class FeedbackPage(Message):
    """Items of which something was said, the latest first. ``next`` is the ``after`` of the next page."""

    model_config = example({"items": [_LISTED], "next": None})

    items: tuple[ListedFeedback, ...]
    next: str | None = Field(description="Where the next page begins; null: this is the last")
