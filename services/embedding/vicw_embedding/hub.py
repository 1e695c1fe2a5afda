"""Pulls a registered model's file from the model hub, resuming where an earlier try broke off."""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import urlsplit

from vicw_embedding import library, minilm
from vicw_shared.embedding_models import MODELS, EmbeddingModel
from vicw_shared.errors import SettingsError, StateConflictError, StorageFullError, UnavailableError, VicwError

if TYPE_CHECKING:
    from pathlib import Path

    from huggingface_hub import HfFileMetadata

Progress = Callable[[int, int | None], None]
"""Told the bytes at hand and the bytes in all, None where the hub does not say."""

_SHA256 = re.compile(r"[0-9a-f]{64}")


def pull(
    name: str, models_dir: Path, *, repository: str | None = None, progress: Progress | None = None
) -> library.ModelFile:
    """Bring a registered model into ``models_dir`` and return it; nothing is fetched that is there already.

    Bytes that arrived stay for the next try. The file appears whole or not at all, checked against the hub's
    own SHA-256 where it gives one. The hub's address is the client
    library's affair (``HF_ENDPOINT``). Raises SettingsError if the name is unknown, the hub does not have
    the file, or its SHA-256 is wrong; UnavailableError if the hub does not answer; StorageFullError;
    ConflictError if another process pulls it.
    """
    card = MODELS.get(name)
    if card is None:
        raise SettingsError(f"{name} is not a registered model. {library.KNOWN}")
    if card.file is None:
        path = minilm.ensure(models_dir)
        return library.ModelFile(card, path, library.sha256(path))
    target = models_dir / card.file
    if not target.is_file():
        models_dir.mkdir(parents=True, exist_ok=True)
        with _translated(card):
            _download(card, repository or card.repository or "", target, progress or (lambda done, total: None))
    return library.ModelFile(card, target, library.sha256(target))


def _download(card: EmbeddingModel, repository: str, target: Path, progress: Progress) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(repository, target.name)
    metadata = get_hf_file_metadata(url, library_name="vicw")
    # The part's name carries the content's tag: bytes of another version are never continued.
    tag = re.sub(r"\W", "", metadata.etag or "unknown")[:64]
    part = target.with_name(f".{target.name}.{tag}.part")
    with part.open("ab") as file:
        _claim(file, target)
        _fetch(url, metadata, file, progress)
        file.flush()
        os.fsync(file.fileno())
        _check(card, part, metadata.etag)
        part.replace(target)


def _claim(file: BinaryIO, target: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StateConflictError(f"another process is pulling {target}") from error


def _fetch(url: str, metadata: HfFileMetadata, file: BinaryIO, progress: Progress) -> None:
    from huggingface_hub import get_token
    from huggingface_hub.file_download import http_get

    # A redirect leads to the hub's storage, which must not see the hub's token.
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
    digest = library.sha256(part)
    if announced and _SHA256.fullmatch(announced) and digest != announced:
        part.unlink()
        raise SettingsError(
            f"what was pulled for {card.name} has SHA-256 {digest}, the hub announced {announced}; it was thrown away"
        )


def _bar(report: Progress) -> Any:
    """Return what the library takes for a progress bar: a class of tqdm's shape."""

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
def _translated(card: EmbeddingModel) -> Iterator[None]:
    from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError

    try:
        yield
    except VicwError:
        raise
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        raise SettingsError(
            f"The hub has no file {card.file} there. Look at --repository or VICW_EMBEDDING_REPOSITORY, and at "
            f"HF_ENDPOINT. ({error})"
        ) from error
    except Exception as error:  # the library lets through whatever its HTTP client raises
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise StorageFullError(f"no room for {card.file}") from error
        raise UnavailableError("model hub", f"{card.file} could not be pulled: {error}") from error
