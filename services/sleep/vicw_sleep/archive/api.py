"""Operations ``export`` and ``import``."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from pydantic import Field

from vicw_core.archive.manifest import EDGES, KEYS
from vicw_core.archive.reader import ArchiveReader
from vicw_core.archive.writer import ArchiveWriter
from vicw_core.background import finish, in_thread
from vicw_runtime.operations import NoItem, Opening, Operation, Report
from vicw_shared.errors import StateConflictError
from vicw_shared.extensions import load_registries
from vicw_shared.progress import Progress, from_threads
from vicw_shared.wire.base import Message, RawText, StrictBool, StrictInt, example
from vicw_shared.wire.examples import story
from vicw_sleep.archive.backups import unpacked
from vicw_sleep.archive.exporter import ExportSelection, ExportSource, export
from vicw_sleep.archive.importer import ImportTarget, import_archive
from vicw_sleep.archive.port import ArchiveStores
from vicw_sleep.archive.validator import ValidatedArchive, validate

_SERVED_NODES, _SERVED_EDGES, _SERVED_RECORDS = 100, 400, 200
"""Rows read and written at once in a server, which answers in between."""
_SERVED_BATCH = 200


class ExportRequest(Message):
    """Export a tenant, a context or everything into a folder on the machine of the memory."""

    model_config = example({"to": "/srv/exports/novel", "context": story.NOVEL})

    to: RawText = Field(description="New or empty folder, or an earlier export, which is replaced")
    tenant: RawText | None = None
    context: RawText | None = None
    keys: StrictBool = Field(False, description="Include the digests of the API keys")
    vectors: StrictBool = True


class ExportResult(Message):
    """Counts of what was exported. ``model`` is that of the vectors, null without; ``left_out`` counts by kind.

    ``erased_meanwhile``: the export may hold what was erased from the store while it was written.
    """

    model_config = example({"nodes": 22, "edges": 41, "vectors": 4, "model": "minilm", "left_out": {}})

    nodes: StrictInt
    edges: StrictInt
    vectors: StrictInt
    model: str | None
    left_out: dict[str, StrictInt]
    erased_meanwhile: StrictBool = False


class ImportRequest(Message):
    """Import an export, a folder or a ``.tar.gz`` on the machine of the memory; or resume it."""

    model_config = example({"path": "/srv/exports/novel"})

    path: RawText
    keys: StrictBool = Field(False, description="Also import the API keys")
    restoring: StrictBool = Field(False, description="Into an empty store, without a check of the invariants")


class ImportDone(Message):
    """Counts of the import. With ``violations`` it is incomplete.

    ``missing_vectors`` were not imported; ``other_keys``: the export has API keys that were not asked for.
    """

    model_config = example(
        {"nodes": 22, "edges": 41, "vectors": 4, "missing_vectors": 0, "other_keys": False, "violations": []}
    )

    nodes: StrictInt
    edges: StrictInt
    vectors: StrictInt
    missing_vectors: StrictInt
    other_keys: StrictBool
    violations: tuple[str, ...]


async def run_export(stores: ArchiveStores, request: ExportRequest, report: Report[NoItem]) -> ExportResult:
    """Export a store while it is in use. Raises as ``export`` and ``ArchiveWriter`` do."""
    model = (await stores.graph.record.models()).used
    has_vectors = request.vectors and model is not None and model.has_vectors
    vectors = await stores.archive_indexes.read(model) if has_vectors and model is not None else None
    pages = {"node_page": _SERVED_NODES, "edge_page": _SERVED_EDGES, "record_page": _SERVED_RECORDS}
    source = ExportSource(
        graph=stores.graph,
        vectors=vectors,
        model=model if request.vectors else None,
        yield_to_foreground=stores.yield_to_foreground,
        **(pages if _is_served(stores) else {}),
    )
    keys = [key for key in await stores.keys.keys() if request.tenant in {None, key.tenant}] if request.keys else []
    selection = ExportSelection(tenant=request.tenant, context=request.context, keys=keys)
    with ArchiveWriter(Path(request.to)) as writer:
        manifest = await export(
            source, writer, load_registries(), selection, program=version("vicw"), progress=report.progress
        )
    return ExportResult(
        nodes=manifest.rows(manifest.node_files),
        edges=manifest.rows([EDGES]),
        vectors=manifest.vectors,
        model=manifest.model.name if manifest.model is not None else None,
        left_out=manifest.left_out,
        erased_meanwhile=manifest.erased_meanwhile,
    )


async def run_import(stores: ArchiveStores, request: ImportRequest, report: Report[NoItem]) -> ImportDone:
    """Validate an export, and import it. Raises as ``validate`` and ``import_archive`` do."""
    await _require_no_change(stores)
    await stores.archive_indexes.require_engine()
    with ExitStack() as stack:
        folder = await in_thread(stack.enter_context, unpacked(Path(request.path)))
        archive = await _validated(stores, folder, report.progress)
        target = ImportTarget(
            graph=stores.graph,
            open_vectors=stores.archive_indexes.fill,
            keys=stores.keys if request.keys else None,
            **({"batch": _SERVED_BATCH} if _is_served(stores) else {}),
        )
        async with stores.without_jobs():
            await _require_no_change(stores)  # one may have begun while the export was read
            done = await import_archive(archive, target, report.progress, restoring=request.restoring)
        manifest = archive.reader.manifest
    return ImportDone(
        nodes=done.nodes,
        edges=done.edges,
        vectors=done.vectors,
        missing_vectors=manifest.vectors - done.vectors,
        other_keys=KEYS in manifest.files and not request.keys,
        violations=tuple(done.violations),
    )


async def _require_no_change(stores: ArchiveStores) -> None:
    if (await stores.graph.record.models()).change is not None:
        command = "vicw reindex --platform" if stores.data_dir is None else "vicw reindex"
        raise StateConflictError(f"A model change is in progress: let `{command}` finish it first")


async def _validated(stores: ArchiveStores, folder: Path, progress: Progress) -> ValidatedArchive:
    """Validate an export in a thread that waits for requests."""
    loop, report, stopped = asyncio.get_running_loop(), from_threads(progress), asyncio.Event()

    def report_and_wait(step: str, done: int, total: int) -> None:
        if stopped.is_set():
            raise asyncio.CancelledError
        report(step, done, total)
        if _is_served(stores):
            asyncio.run_coroutine_threadsafe(_wait(stores), loop).result()

    return await finish(
        asyncio.to_thread(lambda: validate(ArchiveReader(folder), stores.registry, report_and_wait)),
        hurry=stopped.set,
    )


def _is_served(stores: ArchiveStores) -> bool:
    """Return whether this process answers requests."""
    return stores.data_dir is not None and not stores.alone


async def _wait(stores: ArchiveStores) -> None:
    await stores.yield_to_foreground()


EXPORT = Operation(
    name="export",
    summary="Export a store into a folder",
    request=ExportRequest,
    result=ExportResult,
    item=NoItem,
    run=run_export,
    opening=Opening.STORES,
    owner_only=True,
)
IMPORT = Operation(
    name="import",
    summary="Import an export",
    request=ImportRequest,
    result=ImportDone,
    item=NoItem,
    run=run_import,
    opening=Opening.NEW,
    owner_only=True,
)
OPERATIONS = (EXPORT, IMPORT)
