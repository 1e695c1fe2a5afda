"""Analyse code in this process, or in a worker process if the text is long.

On broken code a parser can take quadratic time or more without checking the clock; only a process can be killed.
It also isolates crashes of a grammar.
"""

from __future__ import annotations

import pickle
import subprocess
import sys

from vicw_core.code.code_analysis import DEFAULT_BOUNDS, analyse_in_process
from vicw_core.code.model import Bounds, CodeAnalysis

IN_PROCESS_CHARACTERS = 6_000
_STARTING_SECONDS = 5.0


def analyse_code(
    text: str, *, path: str | None = None, language: str | None = None, bounds: Bounds = DEFAULT_BOUNDS
) -> CodeAnalysis | None:
    """Return the definitions and uses in a code file or fragment, which may have syntax errors.

    The language is that of ``path``'s suffix, else that of ``language`` (a code fence's info string), else that of the
    shebang, else guessed by trying the grammars. They are also tried if the declared language is clearly wrong.

    None if the language is not in ``LANGUAGES`` or stays unknown, if the analysis exceeds ``bounds``, or for binary or
    blank text. Raises nothing. A text of more than ``IN_PROCESS_CHARACTERS`` is analysed in a process of its own,
    which takes .3 s to start, so that a parser that does not terminate blocks no other request.
    """
    if len(text) > IN_PROCESS_CHARACTERS:
        return _analyse_in_worker(text[: bounds.characters + 1], path, language, bounds)
    return analyse_in_process(text, path, language, bounds)


def _analyse_in_worker(text: str, path: str | None, language: str | None, bounds: Bounds) -> CodeAnalysis | None:
    """Run ``analyse_in_process`` in a worker process; None if that crashes or exceeds ``bounds.seconds``."""
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
    analysis: CodeAnalysis | None = pickle.loads(done.stdout)  # noqa: S301 - our own process wrote it
    return analysis


def _main() -> None:
    text, path, language, bounds = pickle.load(sys.stdin.buffer)  # noqa: S301 - our own process wrote it
    pickle.dump(analyse_in_process(text, path, language, bounds), sys.stdout.buffer)


if __name__ == "__main__":
    _main()
