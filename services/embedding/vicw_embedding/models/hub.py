"""Download of a registered model's file from the model hub, resuming an interrupted one."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from vicw_embedding.models import digests, model_files
from vicw_shared.embedding_models import MODELS, EmbeddingModel, ModelFormat
from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError, UnavailableError, VicwError

if TYPE_CHECKING:
    from pathlib import Path

    from huggingface_hub import HfFileMetadata

# Read when the library is imported: it would fetch a list of AI agents first, and name the one that runs us to the hub.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

Progress = Callable[[int, int | None], None]
"""Called with the bytes received and the total, None if the hub does not give it."""

_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}
_SHA256 = re.compile(r"[0-9a-f]{64}")


def pull(
    name: str, models_dir: Path, *, repository: str | None = None, progress: Progress | None = None
) -> model_files.ModelFile:
    """Download a registered model into ``models_dir``, unless it is there, and return it.

    An interrupted download is resumed. Each file appears atomically, checked against the hub's SHA-256 if it gives one.
    The client library reads the hub's address (``HF_ENDPOINT``). Raises SettingsError if the name is unknown, the
    folder cannot be written, the hub does not have the file, or its SHA-256 is wrong; UnavailableError if the hub does
    not answer; StorageFullError; StateConflictError if another process downloads it.
    """
    card = MODELS.get(name)
    if card is None:
        raise SettingsError(f"{name} is not a registered model. {model_files.KNOWN}")
    path = model_files.location(card, models_dir)
    for file, target in files_of(card, models_dir):
        if not target.is_file():
            repository = repository or card.repository or ""
            with _translate_errors(repository, file, target):
                target.parent.mkdir(parents=True, exist_ok=True)
                _download(repository, file, target, progress or (lambda done, total: None))
    return model_files.describe(card, path, models_dir)


def files_of(card: EmbeddingModel, models_dir: Path) -> list[tuple[str, Path]]:
    """Return the files of a model in its repository, each with its place; the model's own is the last."""
    if card.file is None:
        return []
    path = model_files.location(card, models_dir)
    tokenizer = [(model_files.TOKENIZER, path.with_name(model_files.TOKENIZER))]
    return [*(tokenizer if card.format is ModelFormat.ONNX else []), (card.file, path)]


def _download(repository: str, file: str, target: Path, progress: Progress) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(repository, file)
    metadata = get_hf_file_metadata(url, library_name="vicw")
    # The part's name has the content's tag: a part of another version is never continued.
    tag = re.sub(r"\W", "", metadata.etag or "unknown")[:64]
    path = target.with_name(f".{target.name}.{tag}.part")
    with path.open("ab") as part:
        _lock(part, target)
        _fetch(url, metadata, part, progress)
        part.flush()
        os.fsync(part.fileno())
        _check(path, metadata.etag)
        path.replace(target)


def _lock(file: BinaryIO, target: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without these locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StateConflictError(f"another process is pulling {target}") from error


def _fetch(url: str, metadata: HfFileMetadata, file: BinaryIO, progress: Progress) -> None:
    from huggingface_hub import get_token
    from huggingface_hub.file_download import http_get

    # A redirect leads to the hub's storage, which must not get the hub's token.
    same_host = urlsplit(metadata.location).netloc == urlsplit(url).netloc
    token = get_token() if same_host else None
    http_get(
        metadata.location,
        file,
        resume_size=file.tell(),
        expected_size=metadata.size,
        headers={"authorization": f"Bearer {token}"} if token else None,
        tqdm_class=_bar(progress),
    )


def _check(part: Path, announced: str | None) -> None:
    digest = digests.sha256(part)
    if announced and _SHA256.fullmatch(announced) and digest != announced:
        part.unlink()
        raise SettingsError(
            f"the file pulled has SHA-256 {digest}, but the hub announced {announced}; it was deleted. Pull it again"
        )


def _bar(report: Progress) -> Any:
    """Return a progress bar for the library: a class with tqdm's interface."""

    class Bar:
        def __init__(self, *, total: int | None = None, initial: int = 0, **_: object) -> None:
            self._done, self._total = initial, total
            report(initial, total)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, count: int) -> None:
            self._done += count
            report(self._done, self._total)

    return Bar


@contextmanager
def _translate_errors(repository: str, file: str, target: Path) -> Iterator[None]:
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    try:
        yield
    except VicwError:
        raise
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        raise SettingsError(
            f"The hub has no file {file} in {repository}. Check --repository or VICW_EMBEDDING_REPOSITORY, and "
            f"HF_ENDPOINT. ({error})"
        ) from error
    except Exception as error:  # the library passes on any error of its HTTP client
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise StorageFullError(f"the disk is full: no room for {target}") from error
        if isinstance(error, OSError) and error.errno in {
            errno.EACCES,
            errno.EPERM,
            errno.EROFS,
            errno.ENOTDIR,
            errno.EEXIST,
        }:
            raise SettingsError(
                f"{target.parent} cannot be written ({error.strerror}): set VICW_EMBEDDING_MODELS_DIR to a folder for "
                "models that can"
            ) from error
        raise UnavailableError(
            "model hub",
            f"{file} could not be pulled: {error}. Without a network, put the file {file} of the repository "
            f"{repository} at {target} by hand",
        ) from error
