"""The time that a question names, and what there is of it, in an answer."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Message, Timestamp


class NearestItem(Message):
    """The visible item nearest to a time of which there is none."""

    uid: str
    id: str | None = Field(description="Your id")
    at: Timestamp = Field(description="When it happened: as it says itself, else when it was told")


class NamedTime(Message):
    """The time that a question names, and which results are of it: they happened then.

    An item happened when its statements say ("yesterday …"), else when it was told. Results of that time come first, or
    higher than without it; nothing is left out for it.
    """

    text: str = Field(description="The question's own words for it")
    start: Timestamp | None = Field(description="Beginning; null: none")
    end: Timestamp | None = Field(description="End, which is not part of it; null: none")
    items: tuple[str, ...] = Field((), description="Uids of the results of that time, by rank")
    nothing: bool = Field(False, description="Whether nothing visible is known of that time; then `text` says so, too")
    before: NearestItem | None = Field(None, description="If there is nothing, the nearest before it")
    after: NearestItem | None = Field(None, description="If there is nothing, the nearest after it")
