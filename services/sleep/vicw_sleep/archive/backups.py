"""Backups in a folder: naming by time, packing, unpacking, and removal of old ones."""

from __future__ import annotations

import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from vicw_core.archive import PACKED, refusal
from vicw_core.archive import manifest as manifests
from vicw_core.archive.writer import is_archive
from vicw_shared.errors import MissingRecordError, StorageFullError

_NAME = re.compile(r"vicw-\d{8}T\d{6}Z(\.tar\.gz)?")


def name_at(at: datetime) -> str:
    """Return the name of a backup; names sort by time."""
    return f"vicw-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def pack(backup: Path) -> Path:
    """Pack a backup's folder into a tar and remove the folder; return the tar. Raises StorageFullError."""
    packed, aside = backup.with_name(backup.name + PACKED), backup.with_name(f".{backup.name}{PACKED}.partial")
    try:
        with aside.open("wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar:
                tar.add(backup, arcname=backup.name)
            file.flush()
            os.fsync(file.fileno())
        aside.rename(packed)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StorageFullError(f"{packed} cannot be written ({error.strerror}); the backup is in {backup}") from error
    shutil.rmtree(backup)
    return packed


def prune(made: Path, keep: int) -> list[Path]:
    """Remove all but the latest ``keep`` backups beside ``made``; return the removed ones. Other files stay.

    The backup just ``made`` stays whatever its name: the clock may have been set back.
    """
    backups = [path for path in sorted(made.parent.iterdir()) if _NAME.fullmatch(path.name) and path != made]
    ours = [path for path in backups if path.name.endswith(PACKED) or is_archive(path)]
    removed = ours[: max(0, len(ours) - keep + 1)]
    for path in removed:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    return removed


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Yield the folder of an export; a tar is unpacked into TMPDIR for the duration of the block.

    Raises MissingRecordError, InvalidInputError for a tar with foreign members, StorageFullError.
    """
    if path.is_dir() and is_archive(path):
        yield path
        return
    if not path.exists():
        raise MissingRecordError(f"{path} does not exist: name the folder of an export, or the {PACKED} of a backup")
    if path.is_dir() or not path.name.endswith(PACKED):
        raise MissingRecordError(
            f"{path} is not an export: it has no {manifests.NAME}. `vicw ingest` reads files, folders and chats"
        )
    with tempfile.TemporaryDirectory(prefix="vicw-restore-") as room:
        yield _extract(path, Path(room))


def _extract(path: Path, room: Path) -> Path:
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                parts = PurePosixPath(member.name).parts
                if not _sound(parts, member):
                    raise refusal(
                        path.name,
                        f"contains {member.name[:100]!r}, which does not belong in a backup",
                        "Do not restore it",
                    )
                tar.extract(member, room, filter="data")
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno in {28, 122}:
            raise StorageFullError(f"No space to unpack {path}: set TMPDIR to a folder with more space") from error
        raise refusal(path.name, f"cannot be unpacked: {error}", "Take another copy of it") from error
    folders = [folder for folder in room.iterdir() if is_archive(folder)]
    if len(folders) != 1:
        raise refusal(path.name, "is not a backup", "Name the .tar.gz of a backup")
    return folders[0]


def _sound(parts: tuple[str, ...], member: tarfile.TarInfo) -> bool:
    """Return whether a member is a plain file or folder with a valid name inside a backup."""
    name = "/".join(parts[1:])
    if not parts or not _NAME.fullmatch(parts[0]):
        return False
    if member.isdir():
        return name in {"", manifests.EMBEDDINGS}
    return member.isreg() and manifests.is_name(name)
