"""The process that reads uploaded files: ``python -m vicw_readers.intake.child``.

Standard input has a line of JSON, ``{"paths", "options", "memory_mb"}``. The answer is a line with the titles of the
formats by name, then one for each record (``messages.py``), and an empty one at the end. What a reader prints goes
nowhere: it would be taken for an answer. The process ends when nobody reads its answers any more.

Documents are parsed in a process of their own, with its own limits (``documents/child.py``).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

from vicw_readers.intake.limits import OUT_OF_MEMORY, limits
from vicw_readers.intake.messages import as_line
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.registry import readers
from vicw_shared.model import Sensitivity


def main() -> None:
    """Read the files that standard input names."""
    request = json.loads(sys.stdin.buffer.readline())
    with os.fdopen(os.dup(1), "wb") as answers:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 1)
        _limit(request["memory_mb"])
        answers.write(json.dumps({reader.name: reader.title for reader in readers()}).encode() + b"\n")
        try:
            for record in read_paths([Path(path) for path in request["paths"]], options_of(request["options"])):
                answers.write(as_line(record))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)  # what the limit has left is too little to say so
        answers.write(b"\n")


def options_of(fields: dict[str, object]) -> ImportOptions:
    """Return the options that a request names."""
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    sensitivity = given.pop("sensitivity", None)
    zone = given.pop("timezone", "UTC")
    return ImportOptions(
        **given,  # type: ignore[arg-type]  # they are those of ``ImportOptions``, as JSON has them
        sensitivity=None if sensitivity is None else Sensitivity(str(sensitivity)),
        timezone=ZoneInfo(str(zone)),
    )


def _limit(memory_mb: int) -> None:
    """Limit the address space of this process, and the files that it writes, where the system can: Linux can both.

    Where memory runs out all the same it goes first, before the server that waits for it.
    """
    try:
        import resource
    except ModuleNotFoundError:  # only POSIX has it
        return
    copy = limits().copy_bytes
    with contextlib.suppress(ValueError, OSError):
        # The hard limit stays: the process that parses documents sets its own.
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (copy, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
