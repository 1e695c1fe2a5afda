"""The file in which turns outlive the program.

JSON lines, only ever appended to: the first says whose turns these are, ``{"turn": …}`` is a turn, ``{"stored": […]}``
are numbers of turns that VICW has, ``{"left": […]}`` of turns that are wanted no more. A file of mostly such
lines is written anew beside the old one, and takes its place at once.
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

_FORM = 1
_SPENT_LINES = 1000
"""Lines that say nothing any more before the file is written anew."""


class Spool:
    """An open spool. ``turns`` by their numbers, ``stored`` those that VICW has; ``next_number`` was never used.

    Raises SpoolError: another conversation's, in use by another window, unreadable, no room.
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
        """Keep a turn; it is on disk when this returns. Raises SpoolError; then it is not kept."""
        size = self._size
        try:
            self._append(turn.to_json())
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)  # half a line would spoil the next
            self._size = size
            raise SpoolError(f"{self.path}: {error.strerror}. Make room, then say it again") from error
        self._take(turn.to_json())

    def note(self, key: str, numbers: Iterable[int]) -> None:
        """Note turns as ``stored`` or ``left``. Not forced to disk: a turn that is sent twice is stored once."""
        line = {key: sorted(numbers)}
        if not line[key]:
            return
        self._take(line)
        with contextlib.suppress(OSError):
            self._append(line)
            if self._lines > _SPENT_LINES + 2 * len(self.turns):
                self._rewrite()

    def close(self) -> None:
        """Let another window have the file."""
        os.close(self._file)

    def _load(self, flow_id: str | None) -> int:
        """Read the file; return the size of what is whole in it. A line that a kill tore was never answered for."""
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if data and not whole:  # the first line is never torn: the file takes its place with it
            raise SpoolError(f"{self.path} is no spool. Name another file")
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                self._take(json.loads(line)) if number > 1 else self._take_header(json.loads(line), flow_id)
            except (ValueError, KeyError, TypeError) as error:
                raise SpoolError(f"{self.path}:{number} is no line of a spool. Name another file") from error
        return len(whole)

    def _take_header(self, line: dict[str, Any], flow_id: str | None) -> None:
        if line["vicw_window"] != _FORM:
            raise ValueError("of another form")
        for name, mine in (("context", self.context), ("flow_id", flow_id or line["flow_id"])):
            if line[name] != mine:
                raise SpoolError(f"{self.path} is of {name} {line[name]!r}, not {mine!r}. Name a file for each window")
        self.session, self.flow_id, self.next_number = line["session"], line["flow_id"], line["next"]

    def _take(self, line: dict[str, Any]) -> None:
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
        """Replace the file by what counts of it."""
        header = {"vicw_window": _FORM, "session": self.session, "context": self.context, "flow_id": self.flow_id}
        lines = [header | {"next": self.next_number}, *(turn.to_json() for turn in self.turns.values())]
        beside = self.path.with_name(f"{self.path.name}.new")
        beside.unlink(missing_ok=True)
        file = _locked(beside)
        try:
            size = _write(file, 0, [*lines, {"stored": sorted(self.stored)}])
            os.fsync(file)
            beside.replace(self.path)
        except BaseException:
            os.close(file)
            raise
        os.close(self._file)
        self._file, self._size, self._lines = file, size, 0
        _fsync_folder(self.path.parent)


def _write(file: int, size: int, lines: list[dict[str, Any]]) -> int:
    """Write at ``size``, over what a write that failed left there; return the new size."""
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    os.lseek(file, size, os.SEEK_SET)
    while data:
        written = os.write(file, data)
        data, size = data[written:], size + written
    return size


def _locked(path: Path) -> int:
    """Open a file that no other window may have. Chats are private: nobody else on the machine may read it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(file, path)
            if os.fstat(file).st_ino == path.stat().st_ino:  # else another window wrote it anew meanwhile
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
