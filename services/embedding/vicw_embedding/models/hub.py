"""Download of a registered model's file from the model hub, resuming an interrupted one."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from vicw_embedding.models import minilm, model_files
from vicw_shared.embedding_models import MODELS, EmbeddingModel
from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError, UnavailableError, VicwError

if TYPE_CHECKING:
    from pathlib import Path

    from huggingface_hub import HfFileMetadata

# Read when the library is imported: it would fetch a list of AI agents first, and name the one that runs us to the hub.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

Progress = Callable[[int, int | None], None]
"""Called with the bytes received and the total, None if the hub does not give it."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def pull(
    name: str, models_dir: Path, *, repository: str | None = None, progress: Progress | None = None
) -> model_files.ModelFile:
    """Download a registered model into ``models_dir``, unless it is there, and return it.

    An interrupted download is resumed. The file appears atomically, checked against the hub's SHA-256 if it gives one.
    The client library reads the hub's address (``HF_ENDPOINT``). Raises SettingsError if the name is unknown, the hub
    does not have the file, or its SHA-256 is wrong; UnavailableError if the hub does not answer; StorageFullError;
    StateConflictError if another process downloads it.
    """
    card = MODELS.get(name)
    if card is None:
        raise SettingsError(f"{name} is not a registered model. {model_files.KNOWN}")
    if card.file is None:
        path = minilm.ensure(models_dir)
        return model_files.ModelFile(card, path, model_files.sha256(path))
    target = models_dir / card.file
    if not target.is_file():
        models_dir.mkdir(parents=True, exist_ok=True)
        with _translate_errors(card):
            _download(card, repository or card.repository or "", target, progress or (lambda done, total: None))
    return model_files.ModelFile(card, target, model_files.sha256(target))


def _download(card: EmbeddingModel, repository: str, target: Path, progress: Progress) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(repository, target.name)
    metadata = get_hf_file_metadata(url, library_name="vicw")
    # The part's name has the content's tag: a part of another version is never continued.
    tag = re.sub(r"\W", "", metadata.etag or "unknown")[:64]
    part = target.with_name(f".{target.name}.{tag}.part")
    with part.open("ab") as file:
        _lock(file, target)
        _fetch(url, metadata, file, progress)
        file.flush()
        os.fsync(file.fileno())
        _check(card, part, metadata.etag)
        part.replace(target)


def _lock(file: BinaryIO, target: Path) -> None:
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


def _check(card: EmbeddingModel, part: Path, announced: str | None) -> None:
    digest = model_files.sha256(part)
    if announced and _SHA256.fullmatch(announced) and digest != announced:
        part.unlink()
        raise SettingsError(
            f"the file pulled for {card.name} has SHA-256 {digest}, but the hub announced {announced}; it was deleted"
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
def _translate_errors(card: EmbeddingModel) -> Iterator[None]:
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    try:
        yield
    except VicwError:
        raise
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        raise SettingsError(
            f"The hub has no file {card.file} there. Check --repository or VICW_EMBEDDING_REPOSITORY, and "
            f"HF_ENDPOINT. ({error})"
        ) from error
    except Exception as error:  # the library passes on any error of its HTTP client
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise StorageFullError(f"the disk is full: no room for {card.file}") from error
        raise UnavailableError("model hub", f"{card.file} could not be pulled: {error}") from error
