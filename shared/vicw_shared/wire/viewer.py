"""The viewer of an answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from vicw_shared.wire.base import Id, Message, TimeZone


class Viewer(Message):
    """The viewer of the answer. Without one it is the application itself, which sees its whole tenant."""

    user: Id | None = None
    chat: Literal["private", "group"] = "private"
    context: Id | None = Field(None, description="The viewer's own context: non-portable items are seen only there")
    participants: tuple[Id, ...] = ()
    timezone: TimeZone | None = Field(None, description="Of `/retrieve`: the zone where the request names none")
