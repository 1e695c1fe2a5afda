"""The parsing process of documents, seen from the import: started when first needed, killed when it exceeds a limit."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import IO, Any, cast

from vicw_readers.documents.limits import Limits, limits_of_settings
from vicw_readers.documents.model import Part, from_message
from vicw_readers.intake.limits import OUT_OF_MEMORY
from vicw_readers.records import NothingToReadError, UnreadableFileError

COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "vicw_readers.documents.child")
"""-P: without it Python looks for modules in the current folder first, and would run code of what is imported."""
_IDLE_SECONDS = 20
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)
_TOO_LARGE = "Cut it into smaller files, or raise {}"


class _EndedError(UnreadableFileError):
    """The process ended over the file."""


def parse(kind: str, path: Path, limits: Limits | None = None) -> Iterator[Part]:
    """Yield the parts of a document of a format (a key of ``child.PARSERS``) as its parser finds them.

    Raises UnreadableFileError if it cannot be read, exceeds a limit, or ends the parser; what was yielded before is
    right all the same. Several may run at once: each has a process.
    """
    limits = limits or limits_of_settings()
    parts = 0
    if used := _waiting_process():
        try:
            for part in used.parse(kind, path, limits):
                parts += 1
                yield part
            return
        except _EndedError:
            if parts:
                raise
            # It may have been the files before that used up its memory: this one gets a process of its own.
        finally:
            used.release()
    process = _ParserProcess()
    try:
        yield from process.parse(kind, path, limits)
    finally:
        process.release()


class _ParserProcess:
    """A child process; it reads one file at a time."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._is_ready = True
        self._is_late = False
        self._idle: Timer | None = None

    def parse(self, kind: str, path: Path, limits: Limits) -> Iterator[Part]:
        """Yield the parts of one file."""
        self._is_ready = False
        request = {"format": kind, "path": str(path.resolve()), "limits": asdict(limits)}
        try:
            requests = cast(IO[bytes], self._child.stdin)
            requests.write(json.dumps(request).encode("ascii") + b"\n")
            requests.flush()
        except OSError:
            raise self._death(limits) from None
        for message in self._messages(limits):
            if "part" in message:
                yield from_message(message)
                continue
            self._is_ready = True
            if "failed" in message:
                error = NothingToReadError if message.get("nothing") else UnreadableFileError
                raise error(message["failed"], fix=message["fix"])
            return

    def _messages(self, limits: Limits) -> Iterator[dict[str, Any]]:
        seconds = float(limits.seconds)
        left = limits.text_mb * 2**20
        while True:
            before = monotonic()
            line = self._line(seconds, left)
            seconds -= monotonic() - before  # only the waiting: what the caller does with a part is not the parser's
            left -= len(line)
            if left <= 0:
                fix = _TOO_LARGE.format("VICW_DOCUMENTS_TEXT_MB")
                raise UnreadableFileError(f"has more than {limits.text_mb} MB of text", fix=fix)
            if not line.endswith(b"\n"):
                raise self._death(limits)
            yield json.loads(line)

    def _line(self, seconds: float, size: int) -> bytes:
        timer = Timer(max(seconds, 0), self._kill_late)
        timer.daemon = True
        timer.start()
        try:
            return cast(IO[bytes], self._child.stdout).readline(size)
        finally:
            timer.cancel()

    def _kill_late(self) -> None:
        self._is_late = True
        self._child.kill()

    def _death(self, limits: Limits) -> UnreadableFileError:
        """Return why the process is gone, once it is."""
        code = self._child.wait()
        if self._is_late or (_OUT_OF_TIME and code == _OUT_OF_TIME):
            fix = _TOO_LARGE.format("VICW_DOCUMENTS_SECONDS")
            return UnreadableFileError(f"takes more than {limits.seconds} seconds to read", fix=fix)
        memory = f"more than {limits.memory_mb} MB of memory"
        fix = _TOO_LARGE.format("VICW_DOCUMENTS_MEMORY_MB")
        if code == OUT_OF_MEMORY:
            return _EndedError(f"needs {memory} to be read", fix=fix)
        return _EndedError(f"is broken or needs {memory}: it ended the process that read it ({code})", fix=fix)

    def release(self) -> None:
        """Keep the process a while for the next file, or end it if it did not get to the end of this one."""
        if not self._is_ready or self._child.poll() is not None:
            self.end()
            return
        self._idle = Timer(_IDLE_SECONDS, self._end_idle)
        self._idle.daemon = True
        with _lock:
            _waiting.append(self)
        self._idle.start()

    def resume(self) -> bool:
        """Return whether the process still lives, and no longer ends by itself."""
        if self._idle:
            self._idle.cancel()
        if self._child.poll() is None:
            return True
        self.end()
        return False

    def end(self) -> None:
        """End the process."""
        self._child.kill()
        self._child.communicate()  # closes the pipes, too

    def _end_idle(self) -> None:
        with _lock:
            if self not in _waiting:
                return
            _waiting.remove(self)
        self.end()


_waiting: list[_ParserProcess] = []
_lock = Lock()


def _waiting_process() -> _ParserProcess | None:
    while True:
        with _lock:
            if not _waiting:
                return None
            process = _waiting.pop()
        if process.resume():
            return process


@atexit.register
def end_waiting() -> None:
    """End the processes that wait for a file."""
    while process := _waiting_process():
        process.end()
