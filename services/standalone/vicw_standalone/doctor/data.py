"""Checks of the model, the data directory and the stores in it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from vicw_embedding.models import model_files
from vicw_runtime.model_servers.embedders import open_embedder
from vicw_shared.errors import (
    DataDirError,
    DataDirInUseError,
    InvalidInputError,
    LimitExceededError,
    SchemaVersionError,
    UnavailableError,
    VicwError,
)
from vicw_shared.ports import NO_MODEL, Embedder, Lane, ModelIdentity
from vicw_shared.settings import EmbeddingSettings
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.embedding_model.choice import remedy, vectors_of
from vicw_standalone.settings import StandaloneSettings
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import FIRST, folder_of
from vicw_stores.sqlite import GRAPH
from vicw_stores.sqlite.store_summary import GraphCounts, read_counts

_TIMEOUT_SECONDS = 15.0
_CONTEXT_ADVICE = "Raise the context of its model, or lower VICW_INGEST_CHUNK_CHARS"
_TEXT = "The keeper of the light writes down in the evening what the tide has brought. "
_ENDS = (
    "On Sunday the ferry to the northern islands sank in a storm, and nobody was on board.",
    "My neighbour bakes bread with rye, and her cat sleeps on the warm stones of the oven.",
)
"""Two ends of one text. If they make no difference, the server has not read them."""
_WRAPPER_CHARS = 150
_SAME = 0.9995
"""Cosine of vectors that differ by rounding alone."""
_REBUILD_ADVICE = "Nothing is lost: `vicw serve` rebuilds it from the graph; until then answers come without vectors"


def data(settings: StandaloneSettings) -> Iterator[Finding]:
    """Check the model of the settings, the data directory, and the stores in it."""
    models, finding = _model(settings)
    yield finding
    path = settings.storage.data_dir
    in_use, finding = _directory(path)
    yield finding
    if finding.verdict is Severity.PROBLEM:
        return
    if not (path / GRAPH).exists():
        yield Finding("store", Severity.FINE, "nothing is stored yet")
        return
    try:
        counts = read_counts(path / GRAPH)
    except SchemaVersionError as error:
        yield Finding("store", Severity.PROBLEM, error.detail)
    except UnavailableError as error:
        yield Finding("store", Severity.PROBLEM, f"{path / GRAPH} cannot be read: {error.detail}", "Restore a backup")
    else:
        yield _store(counts, models, settings.models_dir)
        if counts.model is None or counts.model.has_vectors:
            yield _index(path, counts, in_use)


def _model(settings: StandaloneSettings) -> tuple[list[ModelIdentity], Finding]:
    """Return the available models, and the finding."""
    embedding = settings.embedding
    if settings.storage.embedder == "none":
        return [NO_MODEL], Finding(
            "model", Severity.FINE, "none (VICW_EMBEDDER=none): answers come from full text, tags and the graph"
        )
    try:
        if embedding.urls:
            chars = settings.ingest.chunk_chars
            answers = {url: asyncio.run(_ask(embedding, url, chars)) for url in embedding.urls}
            detail = ", ".join(f"{url} answers as {identity}" for url, (identity, _) in answers.items())
            finding = Finding("model", Severity.FINE, detail)
            if cutting := [url for url, (_, whole) in answers.items() if not whole]:
                detail += f"; {', '.join(cutting)} does not embed a passage of {chars} characters to its end"
                finding = Finding("model", Severity.NOTE, detail, _CONTEXT_ADVICE)
            return [identity for identity, _ in answers.values()], finding
        identity = model_files.identity(embedding, settings.models_dir)
        return [identity], Finding("model", Severity.FINE, str(identity))
    except VicwError as error:
        return [], Finding("model", Severity.PROBLEM, error.detail, _model_fix(embedding))


def _model_fix(settings: EmbeddingSettings) -> str:
    if settings.url is None:
        return "Choose another with VICW_EMBEDDING_MODEL or, if that is not set, with `vicw model use`"
    return f"Start the server {settings.url}, or unset VICW_EMBEDDING_URL to embed in VICW's own process"


async def _ask(settings: EmbeddingSettings, url: str, chars: int) -> tuple[ModelIdentity, bool]:
    """Return a server's model, and whether it embeds a passage of so many characters to its end."""
    quick_settings = settings.model_copy(update={"timeout_seconds": _TIMEOUT_SECONDS})
    embedder = open_embedder(quick_settings, url, settings.chosen_model, retry_seconds=0)
    try:
        return await embedder.identity(), await _embeds_to_the_end(embedder, chars)
    finally:
        await embedder.close()


async def _embeds_to_the_end(embedder: Embedder, chars: int) -> bool:
    chars += _WRAPPER_CHARS
    texts = [(_TEXT * (chars // len(_TEXT) + 1))[: chars - len(end)] + end for end in _ENDS]
    try:
        one, other = await embedder.embed(texts, Lane.QUERY)
    except (InvalidInputError, LimitExceededError):
        return False
    return float(one @ other) < _SAME


def _directory(path: Path) -> tuple[bool, Finding]:
    """Return whether another process has the directory open, and the finding."""
    try:
        with DataDir(path):
            pass  # released at once: a server that starts meanwhile would be refused
    except DataDirInUseError as error:
        return True, Finding("data directory", Severity.FINE, error.detail.split(". ")[0])
    except DataDirError as error:
        fix = "Name another with --data-dir or VICW_DATA_DIR"
        return False, Finding("data directory", Severity.PROBLEM, error.detail, fix)
    return False, Finding("data directory", Severity.FINE, f"{path} is usable")


def _store(seen: GraphCounts, wanted: Sequence[ModelIdentity], models_dir: Path) -> Finding:
    known = seen.model
    if known is None:
        return Finding("store", Severity.FINE, "holds no vectors yet")
    if not wanted or known in wanted:
        return Finding("store", Severity.FINE, f"has {vectors_of(known)}")
    if wanted == [NO_MODEL]:
        fix = "Unset VICW_EMBEDDER to use them"
        return Finding("store", Severity.NOTE, f"has vectors of {known}, which are not used", fix)
    detail = f"has {vectors_of(known)}, but the model is now {' or '.join(map(str, wanted))}"
    return Finding("store", Severity.PROBLEM, detail, remedy(known, wanted[0], models_dir))


def _index(data_dir: Path, seen: GraphCounts, in_use: bool) -> Finding:
    path = folder_of(data_dir, seen.model, seen.model) if seen.model is not None else data_dir / FIRST
    if not EdgeVectorStore.exists(path):
        if seen.any_indexed:
            return Finding("vector index", Severity.NOTE, f"{path} is missing", _REBUILD_ADVICE)
        return Finding("vector index", Severity.FINE, "nothing is indexed yet")
    if seen.rebuilding:
        return Finding("vector index", Severity.NOTE, "is being rebuilt", _REBUILD_ADVICE)
    if in_use:
        return Finding("vector index", Severity.FINE, "open in the running process")
    if not EdgeVectorStore.closed_cleanly(path):
        fix = "Nothing is lost: the next `vicw serve` compares it with the graph before it answers"
        return Finding("vector index", Severity.NOTE, "was not closed properly", fix)
    return Finding("vector index", Severity.FINE, "closed properly")
