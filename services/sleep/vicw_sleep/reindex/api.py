"""Operations ``reindex``, ``reindex/status`` and ``reindex/drop-old``."""

from __future__ import annotations

from pydantic import Field

from vicw_core.changes import ChangeKind
from vicw_runtime.operations import NoItem, Opening, Operation, Report
from vicw_shared.wire.base import Id, Message, StrictBool, StrictInt, example
from vicw_sleep.reindex.port import ReindexStores


class ReindexRequest(Message):
    """Change to ``model``; without one, continue the change in progress, or repair the index in use.

    A server finishes the change even if the connection ends.
    """

    model_config = example({"model": "minilm"})

    model: Id | None = Field(None, description="A registered model, a path of one, or a name that a server has")


class ReindexResult(Message):
    """Result of a run: ``embedded`` of all ``passages``.

    ``before`` is the model that was in use before, null if the model has not changed, or there was none.
    """

    model_config = example({"model": "minilm", "before": None, "embedded": 4, "passages": 4})

    model: str
    before: str | None
    embedded: StrictInt
    passages: StrictInt


class ReindexStatusRequest(Message):
    """Ask for the indexes of a store."""

    model_config = example({})


class ReindexStatus(Message):
    """A server's current or last run: ``done`` of ``total`` passages are through ``phase``.

    ``lines`` describe in sentences the index in use and the progress of a change.
    """

    model_config = example(
        {"running": False, "phase": "", "done": 4, "total": 4, "error": None, "lines": ["minilm is in use"]}
    )

    running: StrictBool
    phase: str
    done: StrictInt
    total: StrictInt
    error: str | None
    lines: tuple[str, ...]


class DropOldRequest(Message):
    """Remove the indexes that are not in use."""

    model_config = example({})


class DroppedIndexes(Message):
    """The models whose indexes were removed."""

    model_config = example({"models": []})

    models: tuple[str, ...]


async def run_reindex(stores: ReindexStores, request: ReindexRequest, report: Report[NoItem]) -> ReindexResult:
    """Change the model. Raises as ``ReindexRunner.run`` does."""
    done = await stores.reindexing.run(request.model, report.progress)
    return ReindexResult(
        model=done.model.name,
        before=str(done.before) if done.before is not None and done.before.has_vectors else None,
        embedded=done.embedded,
        passages=done.passages,
    )


async def run_status(stores: ReindexStores, request: ReindexStatusRequest, report: Report[NoItem]) -> ReindexStatus:
    """Return the state of the indexes."""
    status, work = await stores.reindexing.status(), stores.reindexing.work
    return ReindexStatus(
        running=work.running,
        phase=work.phase,
        done=work.done,
        total=work.total,
        error=work.error,
        lines=tuple(status.lines()),
    )


async def run_drop_old(stores: ReindexStores, request: DropOldRequest, report: Report[NoItem]) -> DroppedIndexes:
    """Remove unused indexes. Raises StateConflictError during a change."""
    return DroppedIndexes(models=tuple(map(str, await stores.reindexing.drop_old())))


def names_a_file(request: ReindexRequest) -> bool:
    """Return whether the model is a path on the server's machine, not a name."""
    name = request.model or ""
    return bool(set("/\\") & set(name)) or name.startswith((".", "~")) or name.lower().endswith((".gguf", ".onnx"))


REINDEX = Operation(
    name="reindex",
    summary="Change the embedding model, or rebuild the index",
    request=ReindexRequest,
    result=ReindexResult,
    item=NoItem,
    run=run_reindex,
    opening=Opening.STORES,
    needs_owner=names_a_file,
    change=lambda request: ChangeKind.REINDEX,
)
STATUS = Operation(
    name="reindex/status",
    summary="Get the indexes, and the progress of a model change",
    request=ReindexStatusRequest,
    result=ReindexStatus,
    item=NoItem,
    run=run_status,
    opening=Opening.STORES,
)
DROP_OLD = Operation(
    name="reindex/drop-old",
    summary="Remove unused indexes",
    request=DropOldRequest,
    result=DroppedIndexes,
    item=NoItem,
    run=run_drop_old,
    opening=Opening.STORES,
    change=lambda request: ChangeKind.DROP_INDEXES,
)
OPERATIONS = (REINDEX, STATUS, DROP_OLD)
