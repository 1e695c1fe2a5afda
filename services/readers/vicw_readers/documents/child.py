"""The process that parses documents: ``python -m vicw_readers.documents.child``.

A request is a line of JSON on standard input, ``{"format", "path", "limits"}``; the answer is a line for each
part, then ``{"done": true}`` or ``{"failed": reason, "fix": …}``. It serves one request after the
other, and ends with its input. What a parser prints goes nowhere: it would be read as an answer.

Memory and processor time are limited by the operating system, where it can: not on Windows, and macOS does not
limit memory. There the limits on time, output and expansion are what holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from vicw_readers.documents.limits import Limits
from vicw_readers.documents.model import Part, as_message
from vicw_readers.intake.limits import OUT_OF_MEMORY
from vicw_readers.records import NothingToReadError, UnreadableFileError

_SAVE_ANEW = "Open it in its own program and save it anew"
PARSERS = {
    "pdf": "vicw_readers.documents.pdf_text",
    "docx": "vicw_readers.documents.word_text",
    "html": "vicw_readers.documents.html.page",
    "epub": "vicw_readers.documents.book_text",
    "pptx": "vicw_readers.documents.slides_text",
    "xlsx": "vicw_readers.documents.spreadsheet_text",
}
"""The module of each format; its ``parse(path, limits)`` yields the parts."""


class _Parser(Protocol):
    def parse(self, path: Path, limits: Limits) -> Iterator[Part]: ...


def main() -> None:
    """Answer the requests on standard input until it ends."""
    with os.fdopen(os.dup(1), "wb") as answers:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 1)
            os.dup2(nothing.fileno(), 2)
        while line := sys.stdin.buffer.readline():
            _answer(json.loads(line), answers)


def _answer(request: dict[str, object], answers: BinaryIO) -> None:
    limits = Limits(**cast(dict[str, int], request["limits"]))
    _limit(limits)
    try:
        parser = cast(_Parser, import_module(PARSERS[str(request["format"])]))
        for part in parser.parse(Path(str(request["path"])), limits):
            _say(answers, as_message(part))
        _say(answers, {"done": True})
    except NothingToReadError as error:
        _say(answers, {"failed": error.reason, "fix": error.fix, "nothing": True})
    except UnreadableFileError as error:
        _say(answers, {"failed": error.reason, "fix": error.fix})
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what the limit has left is too little to say so
    except OSError as error:
        _say(answers, {"failed": f"cannot be read: {error.strerror or error}", "fix": ""})
    except Exception as error:  # parsers raise whatever they like on a broken file
        _say(answers, {"failed": f"is broken or cut off: {type(error).__name__}: {error}"[:500], "fix": _SAVE_ANEW})


def _say(answers: BinaryIO, message: dict[str, object]) -> None:
    answers.write(json.dumps(message, ensure_ascii=True).encode("ascii") + b"\n")
    answers.flush()


def _limit(limits: Limits) -> None:
    """Limit this process; processor time counts from now."""
    try:
        import resource
    except ModuleNotFoundError:  # only POSIX has it
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + limits.seconds + 1
    with contextlib.suppress(ValueError, OSError):  # macOS refuses a limit on memory
        resource.setrlimit(resource.RLIMIT_AS, (limits.memory_mb * 2**20, resource.RLIM_INFINITY))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
