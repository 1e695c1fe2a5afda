"""The commonest conditions of a filter, as fields of a request itself."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, Timestamp


class PlainConditions(Message):
    """Conditions on items without a filter: of the same meaning in every request that has them. All must hold."""

    label: Id | None = Field(None, description="Event or Entity")
    subtype: Id | None = None
    speaker: Id | None = None
    user: Id | None = Field(None, description="Your id of the speaking user")
    flow: Id | None = None
    source: Id | None = None
    since: Timestamp | None = Field(None, description="Told then or later")
    until: Timestamp | None = Field(None, description="Told before then")
