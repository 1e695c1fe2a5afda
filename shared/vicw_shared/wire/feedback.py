"""``POST /feedback``, and the feedback that an explained answer shows."""

from __future__ import annotations

from enum import StrEnum

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from vicw_shared.wire.base import Id, Message, Prose, StrictInt, Timestamp
from vicw_shared.wire.viewer import Viewer

_EXAMPLE: JsonDict = {
    "context": "Family",
    "item": "address-2019",
    "verdict": "wrong",
    "query": "Where do my parents live?",
    "viewer": {"user": "ana"},
}


class Verdict(StrEnum):
    """What somebody says of an item as an answer."""

    USEFUL = "useful"
    WRONG = "wrong"


class FeedbackRequest(Message):
    """A verdict on an item that was shown for a question."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    item: Id = Field(description="Uid of the result; with `context` also your id. It is of this version of the item")
    context: Id | None = Field(None, description="The context of the item; needed for your id")
    verdict: Verdict
    query: Prose = Field(description="The question; secrets in it are masked")
    viewer: Viewer | None = Field(
        None, description="Who says so, as in `/retrieve`: it must see the item. null: the application itself"
    )


class Feedback(Message):
    """The verdicts on an item so far."""

    uid: str
    context: str
    useful: StrictInt
    wrong: StrictInt


class JudgedQuestion(Message):
    """A verdict on an item for a question."""

    verdict: Verdict
    query: str
    at: Timestamp


class ResultFeedback(Message):
    """What was said of a result."""

    useful: StrictInt
    wrong: StrictInt
    latest: tuple[JudgedQuestion, ...] = Field(
        description="The latest verdicts, at most VICW_MAX_FEEDBACK; empty for a viewer, who sees no question of others"
    )
