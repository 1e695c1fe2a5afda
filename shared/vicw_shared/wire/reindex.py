"""``/admin/reindex``: change of the embedding model of a running server."""

from __future__ import annotations

from pydantic import Field

from vicw_shared.wire.base import Id, Message, StrictInt


class ReindexRequest(Message):
    """Change to ``model``; without one, go on with the change under way, or mend the index in use."""

    model: Id | None = Field(None, description="A registered model, the path of a GGUF, or a name that a server has")


class ReindexResult(Message):
    """What a run has done. ``before`` is the model that was in use, None if it still is."""

    model: str
    before: str | None
    embedded: StrictInt
    passages: StrictInt


class ReindexState(Message):
    """What the server does, or has done last: ``done`` of ``total`` passages are past ``phase``.

    ``status`` says in sentences which index is in use and how far a change is.
    """

    running: bool
    phase: str
    done: StrictInt
    total: StrictInt
    error: str | None
    result: ReindexResult | None
    status: tuple[str, ...]


class DroppedIndexes(Message):
    """The models whose indexes are gone."""

    models: tuple[str, ...]
