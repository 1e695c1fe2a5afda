"""The process that reads an upload, seen from the job: its records as it finds them.

What a hostile file can do to a reader, it does there: the server's memory, its loop and its other requests are not
concerned.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol, cast

from vicw_readers.intake.messages import from_line
from vicw_readers.records import Record

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


class ReadingProcess:
    """Reads in a child process, with ``scratch`` as the folder of its temporary files."""

    def __init__(self, paths: Sequence[Path], options: Mapping[str, object], *, scratch: Path, memory_mb: int) -> None:
        """``options`` are the fields of ``ImportOptions`` as JSON has them."""
        self.titles: Mapping[str, str] = {}
        self._memory_mb = memory_mb
        self._is_stopped = False
        request: dict[str, Any] = {"paths": [str(path) for path in paths], "options": options, "memory_mb": memory_mb}
        self._request = json.dumps(request).encode("ascii") + b"\n"
        self._child = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
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
            yield from_line(line)
        if not self._is_stopped:
            raise self._end()

    def _end(self) -> ReadingEndedError:
        code = self._child.wait()
        return ReadingEndedError(
            f"the process that reads the files ended ({code}): a file is broken, or needs over {self._memory_mb} MB of "
            "memory. Send the files one by one to find it, or raise VICW_IMPORT_MEMORY_MB"
        )
