"""``GET /contexts/{context}/timeline``: the items of a context in order of time, or of a flow, as an ``ItemPage``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from vicw_shared.wire.base import Id, Timestamp
from vicw_shared.wire.examples import story
from vicw_shared.wire.items import MAX_PAGE, ViewerQuery


class TimelineQuery(ViewerQuery):
    """Which part of a timeline is shown, and which time counts."""

    order: Literal["told", "happened", "flow"] | None = Field(
        None,
        description="`told`: by timestamp, without one by arrival; `happened`: by the timestamp that its caller gave, "
        "and only what has one; `flow`: as the Events of `flow` follow each other, by your `flow_step` before their "
        "time. Without it `flow` if there is one, else `told`",
    )
    flow: Id | None = Field(None, description="Only the items of this flow", examples=[story.CHAPTER])
    since: Timestamp | None = Field(
        None, description="Then or later, by the time of `order`, of `flow` that of `told`", examples=[story.SCENE_AT]
    )
    until: Timestamp | None = Field(
        None, description="Before then, by the time of `order`, of `flow` that of `told`", examples=[story.LATER_AT]
    )
    direction: Literal["asc", "desc"] = "asc"
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE, description="Items of a page")] = 100
    cursor: Id | None = Field(None, description="The `next` of the page before", examples=[story.CURSOR])
