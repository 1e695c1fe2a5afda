"""``/admin/vectors``: the vectors of a server's index, which other processes cannot open."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message

MAX_POINTS = 1000
"""Maximum number of points of one request."""


class VectorsRequest(Message):
    """Points, by their ids."""

    ids: tuple[Id, ...] = Field(max_length=MAX_POINTS, description="UUIDs of passages and statements")


class PointVectors(Message):
    """The vectors of the requested points that have one. ``model`` identifies the model, as in names of indexes."""

    model: str
    vectors: dict[str, str] = Field(description="float32, little-endian, in Base64, by the point's id")
