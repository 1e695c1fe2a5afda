"""The process that reads an upload, seen from the job: its records as it finds them.

What a hostile file can do to a reader, it does there: the server's memory, its loop and its other requests are not
concerned.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, cast

import structlog

from vicw_readers.intake.limits import OUT_OF_MEMORY
from vicw_readers.intake.messages import from_line
from vicw_readers.records import Record

_log = structlog.get_logger()
_LOGGED_BYTES = 4096
COMMAND: tuple[str, ...] = (sys.executable, "-P", "-m", "vicw_readers.intake.child")
"""-P: without it Python looks for modules in the current folder first."""


class ReadingEndedError(Exception):
    """The process ended before all files were read."""


class Reading(Protocol):
    """Reads the files of one upload. ``titles`` are those of the formats by name, once records come."""

    titles: Mapping[str, str]

    def records(self) -> Iterator[Record]:
        """Yield the records, blocking. Raises ReadingEndedError; ends early after ``stop``."""
        ...

    def stop(self) -> None:
        """Read no further. May be called from any thread."""
        ...

    def close(self) -> None:
        """Stop, and leave nothing behind. Safe to call twice, and from any thread."""
        ...


class ReadingProcess:
    """Reads in a child process, with ``scratch`` as the folder of its temporary files."""

    def __init__(self, paths: Sequence[Path], options: Mapping[str, object], *, scratch: Path, memory_mb: int) -> None:
        """``options`` are the fields of ``ImportOptions`` as JSON has them."""
        self.titles: Mapping[str, str] = {}
        self._memory_mb = memory_mb
        self._is_stopped = False
        self._last = ""
        self._errors = scratch / "errors.log"
        request: dict[str, Any] = {"paths": [str(path) for path in paths], "options": options, "memory_mb": memory_mb}
        self._request = json.dumps(request).encode("ascii") + b"\n"
        with self._errors.open("wb") as errors:
            self._child = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=scratch,
                env={**os.environ, "TMPDIR": str(scratch), "TEMP": str(scratch), "TMP": str(scratch)},
            )

    def records(self) -> Iterator[Record]:
        """Yield the records; see `Reading.records`."""
        try:
            yield from self._answers()
        finally:
            self._child.kill()
            self._child.communicate()  # closes the pipes, too

    def stop(self) -> None:
        """Kill the process."""
        self._is_stopped = True
        self._child.kill()

    def close(self) -> None:
        """Kill the process and wait for its end; who waits for a record gets none."""
        self.stop()
        self._child.wait()

    def _answers(self) -> Iterator[Record]:
        requests, answers = cast(IO[bytes], self._child.stdin), cast(IO[bytes], self._child.stdout)
        try:
            requests.write(self._request)
            requests.flush()
        except OSError:
            raise self._end() from None
        titles = answers.readline()
        if titles.endswith(b"\n"):
            self.titles = json.loads(titles)
        while (line := answers.readline()).endswith(b"\n"):
            if line == b"\n":
                return
            record = from_line(line)
            self._last = record.path
            yield record
        if not self._is_stopped:
            raise self._end()

    def _end(self) -> ReadingEndedError:
        code = self._child.wait()
        said = self._errors.read_bytes()[-_LOGGED_BYTES:].decode("utf-8", "replace")
        _log.warning("the process that reads an upload ended", code=code, memory_mb=self._memory_mb, said=said)
        if code == OUT_OF_MEMORY:
            why = f"needs over {self._memory_mb} MiB of memory. Raise VICW_IMPORT_MEMORY_MB"
        elif code == -getattr(signal, "SIGKILL", 9):
            why = "was killed, as it is where a machine or container has no memory left. Give the server more"
        else:
            why = f"ended by an error ({code}), which the server's log has"
        where = f" after {Path(self._last).name!r}" if self._last else ""
        return ReadingEndedError(f"the process that reads the files{where} {why}, or leave the next file out")
