"""A .zip, opened once: its files by name, within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, BinaryIO, Self, cast

from vicw_readers.intake.limits import limits
from vicw_readers.records import UnreadableFileError

_TRUSTED = "Unpack it and name the folder, or raise {} if you trust it"
BROKEN: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    zlib.error,
)
"""What zipfile raises; RuntimeError is how it says that a password is needed."""
try:
    import lzma
except ImportError:  # a Python may be built without it, and then opens no such member
    pass
else:
    BROKEN = (*BROKEN, lzma.LZMAError)


class Archive:
    """The files of a .zip, without its folders. Members named absolutely or with ``..`` are in ``unsafe`` alone."""

    def __init__(self, zip_file: zipfile.ZipFile, packed_bytes: int) -> None:
        self._zip = zip_file
        self._limits = limits()
        most = max(self._limits.archive_bytes, packed_bytes * self._limits.archive_expansion)
        self._total = _Total(most)
        infos = [info for info in zip_file.infolist() if not info.is_dir()]
        if len(infos) > self._limits.archive_files:
            fix = _TRUSTED.format("VICW_READERS_ARCHIVE_FILES")
            raise UnreadableFileError(f"has {len(infos)} files, over {self._limits.archive_files}", fix=fix)
        self._infos = {info.filename: info for info in infos if _is_safe(info.filename)}
        self.unsafe = sorted({info.filename for info in infos} - self._infos.keys())
        self.names: tuple[str, ...] = tuple(sorted(self._infos))

    @classmethod
    @contextmanager
    def opened(cls, file: BinaryIO) -> Iterator[Self]:
        """Open an archive. Raises UnreadableFileError if it is broken."""
        try:
            archive = zipfile.ZipFile(file)
        except BROKEN as error:
            raise UnreadableFileError(f"is a .zip that cannot be read: {error}") from error
        with archive:
            yield cls(archive, file.seek(0, io.SEEK_END))

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def size(self, name: str) -> int:
        """Return the bytes of a member, as the archive says."""
        return self._infos[name].file_size

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a member. Raises UnreadableFileError, also while it is read: broken, encrypted, or expanding too far."""
        info = self._infos[name]
        try:
            with self._zip.open(info) as member:
                most = max(self._limits.member_bytes, info.compress_size * self._limits.archive_expansion)
                with io.BufferedReader(_Bounded(member, most, partial(self._total.reach, name))) as file:
                    yield cast(BinaryIO, file)
        except BROKEN as error:
            raise UnreadableFileError(f"is in a .zip and cannot be unpacked: {error}") from error


class _Total:
    """How much of all members was unpacked; what is read once more counts once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._reached: dict[str, int] = {}
        self._bytes = 0

    def reach(self, name: str, place: int) -> None:
        """Note that a member was read up to a place. Raises UnreadableFileError if that is too much in all."""
        more = place - self._reached.get(name, 0)
        if more > 0:
            self._reached[name] = place
            self._bytes += more
        if self._bytes > self._most:
            raise UnreadableFileError(
                f"is in a .zip that expands to over {self._most} bytes", fix=_TRUSTED.format("VICW_READERS_ARCHIVE_MB")
            )


class _Bounded(io.RawIOBase):
    """The bytes of a member, as far as the limit; what the archive says of their number cannot be trusted."""

    def __init__(self, member: IO[bytes], most: int, reach: Callable[[int], None]) -> None:
        self._member = member
        self._most = most
        self._reach = reach

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._member.seek(offset, whence)

    def tell(self) -> int:
        return self._member.tell()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the base takes any buffer
        data = self._member.read(len(buffer))
        if self._member.tell() > self._most:
            raise UnreadableFileError(
                f"expands to over {self._most} bytes", fix=_TRUSTED.format("VICW_READERS_ARCHIVE_EXPANSION")
            )
        self._reach(self._member.tell())
        buffer[: len(data)] = data
        return len(data)


def _is_safe(name: str) -> bool:
    is_absolute = PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive != ""
    return not is_absolute and ".." not in PurePosixPath(name.replace("\\", "/")).parts and bool(name)
