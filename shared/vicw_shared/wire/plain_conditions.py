"""The commonest conditions of a filter, as fields of a request itself."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, Timestamp
from vicw_shared.wire.examples import story


class PlainConditions(Message):
    """Conditions on items without a filter: of the same meaning in every request that has them. All must hold."""

    label: Id | None = Field(None, description="Event or Entity", examples=["Event"])
    subtype: Id | None = Field(None, examples=["scene"])
    speaker: Id | None = Field(None, examples=["Ana"])
    user: Id | None = Field(None, description="Your id of the speaking user", examples=["ana"])
    flow: Id | None = Field(None, examples=[story.CHAPTER])
    source: Id | None = Field(None, examples=["chapters/3.md"])
    since: Timestamp | None = Field(None, description="Told then or later", examples=[story.SCENE_AT])
    until: Timestamp | None = Field(None, description="Told before then", examples=[story.LATER_AT])
