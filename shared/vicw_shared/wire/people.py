"""``GET /users``, ``GET /people/{uid}/profile``: who speaks in what is stored, and what a person told of themself."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from vicw_shared.wire.base import Id, Message, RawText, Timestamp, example
from vicw_shared.wire.examples import story
from vicw_shared.wire.items import MAX_PAGE, ViewerQuery


class UsersQuery(ViewerQuery):
    """Which users are listed."""

    context: Id | None = Field(None, description="Count only the items of this context", examples=[story.NOVEL])
    prefix: Id | None = Field(None, description="Start of their ids or names, in its exact spelling", examples=["an"])
    after: Annotated[str, Field(min_length=1)] | None = Field(
        None, description="The `next` of the page before", examples=[story.CURSOR]
    )
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Users of a page")] = 100


class UserSummary(Message):
    """The live items of one user, as far as the viewer may see them; of those without a user, of one speaker."""

    user: str | None = Field(description="Your id of the user; null: items of this speaker that name no user")
    speakers: tuple[str, ...] = Field(description="Names under which the user speaks; empty: none was given")
    items: int
    contexts: int = Field(description="Contexts with such an item")
    first: Timestamp = Field(description="When the first of the items was told")
    last: Timestamp = Field(description="When the last of them was told")


class UserPage(Message):
    """Users by id, then speakers without one by name. ``next`` is the ``after`` of the next page, null at the end."""

    model_config = example(
        {
            "users": [
                {
                    "user": "ana",
                    "speakers": ["Ana"],
                    "items": 2,
                    "contexts": 1,
                    "first": story.OLD_HOME_AT,
                    "last": story.NEW_HOME_AT,
                }
            ],
            "next": None,
        }
    )

    users: tuple[UserSummary, ...]
    next: str | None = None


class ProfileQuery(ViewerQuery):
    """How much of a profile is shown."""

    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Statements of the profile")] = 100


class ProfileStatement(Message):
    """A turn in which a person says something of themself."""

    topic: str = Field(
        description="`person` (name, age, origin), `health`, `family`, `work`, `home`, `likes`, or `other`"
    )
    text: str = Field(description="The turn's text, as it was said")
    lasting: bool = Field(description="Whether it tells of a state, not of an event")
    ended: bool = Field(description="Whether a later statement replaced it")
    item: str = Field(description="Uid of the item")
    id: RawText | None = Field(None, description="Your id of the item")
    context: str
    told_at: Timestamp = Field(description="`timestamp` of the item, or without one when it was stored")


class PersonProfile(Message):
    """What a person told of themself, topic by topic, as far as the viewer may see it."""

    model_config = example(
        {
            "uid": story.ANA,
            "name": "Ana",
            "statements": [
                {
                    "topic": "home",
                    "text": "I live in Graz now.",
                    "lasting": True,
                    "ended": False,
                    "item": story.NEW_HOME_UID,
                    "id": story.NEW_HOME,
                    "context": story.NOVEL,
                    "told_at": story.NEW_HOME_AT,
                }
            ],
            "complete": True,
        }
    )

    uid: str
    name: str = Field(description="Name of the person; of a user your id")
    statements: tuple[ProfileStatement, ...] = Field(
        description="By topic; in a topic what holds before what was replaced, states before events, the later first"
    )
    complete: bool = Field(description="False if there are more statements")
