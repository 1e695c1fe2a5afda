"""``/admin/reindex``: change of the embedding model of a running server."""

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
