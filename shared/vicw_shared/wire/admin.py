"""``/admin``: change of the embedding model, vectors of the index, for commands beside a running server."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, StrictInt


class ReindexRequest(Message):
    """Change to ``model``; without one, continue the change in progress, or repair the index in use."""

    model: Id | None = Field(None, description="A registered model, the path of a GGUF, or a name that a server has")


class ReindexResult(Message):
    """Result of a run. ``before`` is the model that was in use before, null if the model has not changed."""

    model: str
    before: str | None
    embedded: StrictInt
    passages: StrictInt


class ReindexState(Message):
    """The server's current or last run: ``done`` of ``total`` passages are through ``phase``.

    ``status`` describes in sentences the index in use and the progress of a change.
    """

    running: bool
    phase: str
    done: StrictInt
    total: StrictInt
    error: str | None
    result: ReindexResult | None
    status: tuple[str, ...]


class DroppedIndexes(Message):
    """The models whose indexes were removed."""

    models: tuple[str, ...]


MAX_POINTS = 1000
"""Maximum number of points of one request."""


class VectorsRequest(Message):
    """Points, by their ids."""

    ids: tuple[Id, ...] = Field(max_length=MAX_POINTS, description="UUIDs of passages and statements")


class PointVectors(Message):
    """The vectors of the requested points that have one. ``model`` identifies the model, as in names of indexes."""

    model: str
    vectors: dict[str, str] = Field(description="float32, little-endian, in Base64, by the point's id")
