"""Uploads of files to be imported: what each call sends, and what it makes of the answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

from vicw_client._exchange import PauseSeconds, Retry, Send, Steps, exchange, parse, query_of
from vicw_client.errors import JobTimeoutError
from vicw_shared.wire.file_import import ImportJob, ImportQuery

_POLL_FIRST_SECONDS = 0.1
_POLL_LONGEST_SECONDS = 2.0


class LazyFile:
    """A file that is opened when it is first read, and closed at its end: of thousands one is open.

    ``seek`` and ``tell`` tell its size, so that the server knows the size of the whole before it takes any of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def tell(self) -> int:
        """Return the start: it is read from there, once."""
        return 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Return the size, asked for the end. Raises OSError."""
        return offset + self._path.stat().st_size if whence == os.SEEK_END else offset

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if self._file is None:
            self._file = self._path.open("rb")
        if not (data := self._file.read(size)):
            self._file.close()
        return data


def content_of(send: Send) -> dict[str, Any]:
    """Return the arguments of httpx for what a request sends."""
    if not send.files:
        return {"content": send.body}
    return {"files": [("file", (name, LazyFile(path))) for name, path in send.files]}


def import_files(paths: Sequence[str | os.PathLike[str]], fields: Mapping[str, Any], retry: Retry) -> Steps[ImportJob]:
    """Upload files; to do so twice stores nothing twice."""
    files = tuple(pair for path in paths for pair in _files_of(Path(path)))
    send = Send("POST", f"/import{query_of(ImportQuery, fields)}", files=files)
    if not files:
        raise FileNotFoundError("there is no file to upload: name one, or a folder that has some")
    return parse(ImportJob, (yield from exchange(send, retry)))


def import_job(job: str, retry: Retry, *, cancel: bool = False) -> Steps[ImportJob]:
    """Request the state of an import, or its end."""
    send = Send("DELETE" if cancel else "GET", f"/import/{quote(job, safe='')}")
    return parse(ImportJob, (yield from exchange(send, retry)))


def wait_for_import(
    awaited: str | ImportJob, timeout_seconds: float, now: Callable[[], float], retry: Retry
) -> Steps[ImportJob]:
    """Poll an import until it ends, with growing pauses."""
    job = awaited.job if isinstance(awaited, ImportJob) else awaited
    deadline, pause = now() + timeout_seconds, _POLL_FIRST_SECONDS
    while not (state := (yield from import_job(job, retry))).is_over:
        remaining = deadline - now()
        if remaining <= 0:
            raise JobTimeoutError(f"import {job} is not done after {timeout_seconds:g} s. It continues")
        yield PauseSeconds(min(pause, remaining))
        pause = min(pause * 1.5, _POLL_LONGEST_SECONDS)
    return state


def _files_of(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a path, each with the name that it is sent under. Hidden ones stay here. Raises OSError."""
    if not path.is_dir():
        if not path.is_file():
            raise FileNotFoundError(f"{path} is no file and no folder")
        yield path.name, path
        return
    root = path.resolve()
    for file in sorted(root.rglob("*")):
        inner = file.relative_to(root)
        is_hidden = any(part.startswith(".") for part in inner.parts) and inner.parts != (".gitignore",)
        if not is_hidden and file.is_file() and not file.is_symlink():
            yield f"{root.name}/{inner.as_posix()}", file
