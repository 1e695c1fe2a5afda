"""Spool: a file that keeps turns beyond the end of the program.

Append-only JSON lines: the first names the conversation, ``{"turn": …}`` is a turn, ``{"stored": […]}`` are numbers of
turns that VICW has, ``{"left": […]}`` of turns that are not needed any more. A file of mostly such lines is rewritten
beside the old one and replaces it atomically.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vicw_client.errors import SpoolError
from vicw_client.window.turns import Turn

_VERSION = 1
_MAX_SPENT_LINES = 1000
"""Number of obsolete lines at which the file is rewritten."""


class Spool:
    """An open spool. ``turns`` by number, ``stored`` the numbers that VICW has; ``next_number`` was never used.

    Raises SpoolError: it belongs to another conversation, is in use by another window or unreadable, or the disk is
    full.
    """

    def __init__(self, path: Path, context: str, flow_id: str | None) -> None:
        self.path = path.resolve()
        self.session = uuid.uuid4().hex
        self.context = context
        self.flow_id = flow_id or self.session
        self.next_number = 1
        self.turns: dict[int, Turn] = {}
        self.stored: set[int] = set()
        self._lines = 0
        try:
            self._file = _locked(self.path)
            try:
                self._size = self._load(flow_id)
                self._rewrite()
            except BaseException:
                self.close()
                raise
        except OSError as error:
            raise SpoolError(f"{path}: {error.strerror}. Name a file that can be written") from error

    def add(self, turn: Turn) -> None:
        """Add a turn; it is on disk when this returns. Raises SpoolError; then it is not added."""
        size = self._size
        try:
            self._append(turn.to_json())
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)  # half a line would corrupt the next
            self._size = size
            raise SpoolError(f"{self.path}: {error.strerror}. Make room, then repeat the call") from error
        self._apply(turn.to_json())

    def note(self, key: str, numbers: Iterable[int]) -> None:
        """Mark turns as ``stored`` or ``left``. Not forced to disk: a turn that is sent twice is stored once."""
        line = {key: sorted(numbers)}
        if not line[key]:
            return
        self._apply(line)
        with contextlib.suppress(OSError):
            self._append(line)
            if self._lines > _MAX_SPENT_LINES + 2 * len(self.turns):
                self._rewrite()

    def close(self) -> None:
        """Close and unlock the file."""
        os.close(self._file)

    def _load(self, flow_id: str | None) -> int:
        """Read the file; return the size of its complete lines. A line truncated by a kill was never confirmed."""
        data = self.path.read_bytes()
        complete = data[: data.rfind(b"\n") + 1]
        if data and not complete:  # the first line is never truncated: it is complete before the file is in place
            raise SpoolError(f"{self.path} is not a spool. Name another file")
        for number, line in enumerate(complete.splitlines(), start=1):
            try:
                self._apply(json.loads(line)) if number > 1 else self._apply_header(json.loads(line), flow_id)
            except (ValueError, KeyError, TypeError) as error:
                raise SpoolError(f"{self.path}:{number} is not a line of a spool. Name another file") from error
        return len(complete)

    def _apply_header(self, line: dict[str, Any], flow_id: str | None) -> None:
        if line["vicw_window"] != _VERSION:
            raise ValueError("of another version")
        for name, own in (("context", self.context), ("flow_id", flow_id or line["flow_id"])):
            if line[name] != own:
                raise SpoolError(f"{self.path} has {name} {line[name]!r}, not {own!r}. Name a file for each window")
        self.session, self.flow_id, self.next_number = line["session"], line["flow_id"], line["next"]

    def _apply(self, line: dict[str, Any]) -> None:
        self._lines += 1
        if "turn" in line:
            turn = Turn.from_json(line)
            self.turns[turn.number] = turn
            self.next_number = max(self.next_number, turn.number + 1)
        elif "stored" in line:
            self.stored.update(line["stored"])
        else:
            for number in line["left"]:
                self.turns.pop(number, None)
                self.stored.discard(number)

    def _append(self, line: dict[str, Any]) -> None:
        self._size = _write(self._file, self._size, [line])

    def _rewrite(self) -> None:
        """Replace the file by one without obsolete lines."""
        header = {"vicw_window": _VERSION, "session": self.session, "context": self.context, "flow_id": self.flow_id}
        lines = [header | {"next": self.next_number}, *(turn.to_json() for turn in self.turns.values())]
        replacement = self.path.with_name(f"{self.path.name}.new")
        replacement.unlink(missing_ok=True)
        file = _locked(replacement)
        try:
            size = _write(file, 0, [*lines, {"stored": sorted(self.stored)}])
            os.fsync(file)
            replacement.replace(self.path)
        except BaseException:
            os.close(file)
            raise
        os.close(self._file)
        self._file, self._size, self._lines = file, size, 0
        _fsync_folder(self.path.parent)


def _write(file: int, size: int, lines: list[dict[str, Any]]) -> int:
    """Write at ``size``, over the remains of a failed write; return the new size."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    os.lseek(file, size, os.SEEK_SET)
    while data:
        written = os.write(file, data)
        data, size = data[written:], size + written
    return size


def _locked(path: Path) -> int:
    """Open and lock a file. Chats are private: no other user of the machine may read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(file, path)
            if os.fstat(file).st_ino == path.stat().st_ino:  # otherwise another window has replaced it meanwhile
                return file
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _lock(file: int, path: Path) -> None:
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SpoolError(f"{path} is in use by another window. Name a file for each") from error


def _fsync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
