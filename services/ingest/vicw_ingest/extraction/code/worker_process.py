"""Analyse code in this process, or in a worker process if the text is long.

On broken code a parser can take quadratic time or more without checking the clock; a process can be killed. The
process also isolates crashes of a grammar.
"""

from __future__ import annotations

import pickle
import subprocess
import sys

from vicw_ingest.extraction.code.code_analysis import DEFAULT_BOUNDS, read_here
from vicw_ingest.extraction.code.model import Bounds, CodeReading

HERE_CHARACTERS = 6_000
_STARTING_SECONDS = 5.0


def read_code(
    text: str, *, path: str | None = None, language: str | None = None, bounds: Bounds = DEFAULT_BOUNDS
) -> CodeReading | None:
    """Return what a file of code or a fragment defines and uses, as far as it can be read; it may have errors.

    The language is that of ``path``'s suffix, else the one that ``language`` names as a code fence would, else that of
    the first line (``#!``), else, in a fragment, the one whose grammar reads it. If that is clearly wrong, the
    grammars are asked, too.

    None if the language is none of ``LANGUAGES``, cannot be told, or reading takes longer than ``bounds``; for what is
    no text; for a blank one. Raises nothing. A text of more than ``HERE_CHARACTERS`` is read in a process of its own,
    which takes .3 s to start, so that a parser that does not terminate blocks no other request.
    """
    if len(text) > HERE_CHARACTERS:
        return _read_apart(text[: bounds.characters + 1], path, language, bounds)
    return read_here(text, path, language, bounds)


def _read_apart(text: str, path: str | None, language: str | None, bounds: Bounds) -> CodeReading | None:
    """Return what ``read_here`` returns; None if it crashes or has no end by ``bounds.seconds``."""
    task = pickle.dumps((text, path, language, bounds))
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            input=task,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=bounds.seconds + _STARTING_SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    reading: CodeReading | None = pickle.loads(done.stdout)  # noqa: S301 - our own process wrote it
    return reading


def _main() -> None:
    text, path, language, bounds = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process wrote it
    pickle.dump(read_here(text, path, language, bounds), sys.stdout.buffer)


if __name__ == "__main__":
    _main()
