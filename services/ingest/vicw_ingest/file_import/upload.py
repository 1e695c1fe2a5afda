"""Files of a multipart request (RFC 7578), written to disk as they arrive: never whole in memory, within limits."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from contextlib import closing, suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from vicw_ingest.file_import.places import too_large
from vicw_shared.errors import FieldProblem, InvalidInputError, LimitExceededError, StorageFullError, VicwError
from vicw_shared.settings import ImportSettings

FORM = "multipart/form-data"
_HEADER_BYTES = 8192
_MOST_PARTS = 32
"""Folders above a file, and the file: each is one more call where they are made and removed."""
_SEND = "Send each file as a part with its name: curl -F file=@notes.zip"


def boundary_of(content_type: str) -> bytes:
    """Return what separates the parts of a body. Raises InvalidInputError for another kind of body."""
    kind, options = parse_options_header(content_type)
    if kind.decode("latin-1").lower() != FORM:
        raise _wrong("body", f"is sent as {kind.decode('latin-1', 'replace')!r}", f"Send {FORM}. {_SEND}")
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise _wrong("body", "has a Content-Type without a boundary", "Let the HTTP library write this header")
    return boundary


async def receive(
    chunks: AsyncIterator[bytes], content_type: str, folder: Path, limits: ImportSettings, took: Callable[[int], None]
) -> UploadedFiles:
    """Write the files of a body below ``folder``, which is empty, readable by their owner alone.

    ``took`` is called with the bytes of each chunk before it is written, and may raise. Raises InvalidInputError for a
    body that is no form, has no file, or names one wrongly; LimitExceededError, StorageFullError.
    """
    with closing(UploadedFiles(boundary_of(content_type), folder, limits)) as files:
        async for chunk in chunks:
            took(len(chunk))
            await asyncio.to_thread(files.write, chunk)
        files.finish()
        return files


class UploadedFiles:
    """Parser of a body, and the files that it has written."""

    def __init__(self, boundary: bytes, folder: Path, limits: ImportSettings) -> None:
        self.count = 0
        self.size = 0
        self._folder = folder
        self._limits = limits
        self._most = limits.upload_mb * 2**20
        self._received = 0
        self._header = bytearray()
        self._value = bytearray()
        self._disposition = b""
        self._file: IO[bytes] | None = None
        self._has_ended = False
        self._tops: dict[str, None] = {}
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._add_header,
                    "on_header_value": self._add_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._open,
                    "on_part_data": self._put,
                    "on_part_end": self._end_file,
                    "on_end": self._end,
                },
            )
        except FormParserError as error:
            raise _wrong("body", f"has a wrong boundary: {error}", "Let the HTTP library write this header") from error

    @property
    def paths(self) -> tuple[Path, ...]:
        """What to read, in the order of arrival: files, and folders of those whose names have one."""
        return tuple(self._folder / name for name in self._tops)

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the body. Blocks while they are written."""
        self._received += len(chunk)
        if self._received > self._most:
            raise too_large(self._limits)
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _wrong("body", f"is no form: {error}", _SEND) from error
        except OSError as error:
            raise _unwritten(error) from error

    def finish(self) -> None:
        """Require that the body was whole, and had a file."""
        if not self._has_ended:
            raise _wrong("body", "ends before its last part does", "Send all of it")
        if not self.count:
            raise _wrong("body", "has no file", _SEND)

    def close(self) -> None:
        """Close the file that is being written, if any. Never raises: its last bytes may find no room, either."""
        with suppress(OSError):
            self._end_file()

    def _end_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _begin(self) -> None:
        self._disposition = b""
        self._header.clear()
        self._value.clear()

    def _add_header(self, data: bytes, start: int, end: int) -> None:
        self._add(self._header, data[start:end])

    def _add_value(self, data: bytes, start: int, end: int) -> None:
        self._add(self._value, data[start:end])

    def _add(self, held: bytearray, data: bytes) -> None:
        held += data
        if len(held) > _HEADER_BYTES:
            raise _wrong("body", f"has a header of over {_HEADER_BYTES} bytes in a part", _SEND)

    def _end_header(self) -> None:
        if bytes(self._header).lower() == b"content-disposition":
            self._disposition = bytes(self._value)
        self._header.clear()
        self._value.clear()

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        field = options.get(b"name", b"").decode("utf-8", "backslashreplace")
        if b"filename" not in options:
            raise _wrong(field or "body", "is a part that is no file", "Options stand in the query: /import?context=…")
        name = options[b"filename"].decode("utf-8", "backslashreplace")
        if not name:  # a browser sends this for a field without a chosen file
            return
        self.count += 1
        if self.count > self._limits.files:
            raise LimitExceededError(
                f"body: over {self._limits.files} files (VICW_IMPORT_FILES). Send them as one .zip, in several "
                "uploads, or raise the limit"
            )
        path = _inner_path(name)
        self._tops.setdefault(path.parts[0])
        target = self._folder / path
        try:
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(target, _NEW, 0o600), "wb")
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise _wrong(name, "is there twice", "Give each file of an upload a name of its own") from None

    def _put(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
            self.size += end - start

    def _end(self) -> None:
        self._has_ended = True


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


def _inner_path(name: str) -> PurePosixPath:
    """Return the path of a file by its name, which may have folders.

    Raises InvalidInputError if it leads out of the folder, or far down.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    is_absolute = path.is_absolute() or PureWindowsPath(name).drive != ""
    if is_absolute or ".." in path.parts or not path.parts or "\0" in name:
        raise _wrong(name, "is a name that leads elsewhere", "Name the file, with the folders above it if you like")
    if len(path.parts) > _MOST_PARTS:
        raise _wrong(f"{name[:80]}…", f"has over {_MOST_PARTS - 1} folders above it", "Send such files in a .zip")
    return path


def _wrong(field: str, problem: str, fix: str) -> InvalidInputError:
    return InvalidInputError(FieldProblem(field, problem, fix))


def _unwritten(error: OSError) -> VicwError:
    """Return what the caller is told of a file that could not be written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFullError("the disk with VICW_IMPORT_FOLDER is full: free some space, or send fewer files")
    if error.errno in {errno.ENAMETOOLONG, errno.EINVAL}:
        return _wrong("body", f"has a file whose name cannot be kept: {error.strerror}", "Give it a shorter name")
    return StorageFullError(f"an uploaded file cannot be written to VICW_IMPORT_FOLDER: {error.strerror}")
