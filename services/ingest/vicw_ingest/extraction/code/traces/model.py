"""Result model of stack trace parsing.

Representation in the graph:

* a ``TracedFailure``: ``Event`` of subtype ``error``, named ``error: message``, ``EVIDENCED_BY`` its passage;
* its cause, the next failure of its trace: ``CAUSED {certainty}`` from that one to this, near 1 for
  ``FailureLink.CAUSED`` (stated by the program), lower for ``FailureLink.DURING`` (raised while that was handled);
* its innermost frame outside libraries: ``RELATED_TO {desc: "failed in"}`` to the function (``Entity``, subtype
  ``symbol``), which the file ``CONTAINS``; the other such frames: ``MENTIONS``; library frames: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vicw_shared.text import Span


class FailureLink(StrEnum):
    """How the next failure of a trace led to this one."""

    CAUSED = "caused"
    DURING = "during"
    """Raised while the other was being handled."""


@dataclass(frozen=True, slots=True)
class TraceFrame:
    """A position in the program. ``function``, ``file`` and ``line`` (from 1) are None if the trace lacks them.

    ``function`` is as printed, with its class or package, without arguments. ``library``: its file or package
    is clearly not the user's own code; a library that looks like own code counts as own.
    """

    function: str | None
    file: str | None
    line: int | None
    library: bool


@dataclass(frozen=True, slots=True)
class TracedFailure:
    """An error with its frames, the innermost first.

    ``error`` is its type as printed (``panic`` in Go and Rust), ``message`` may be ``""``. ``link`` is how the next
    failure led to this one, None for the last.
    ``span`` is in characters of the text, from the error or its first frame on.
    """

    error: str
    message: str
    frames: tuple[TraceFrame, ...]
    link: FailureLink | None
    span: Span


@dataclass(frozen=True, slots=True)
class StackTrace:
    """A chain of failures, each caused by the next; the first one ended the program.

    ``language`` is ``python``, ``java`` (any JVM language), ``javascript``, ``csharp`` (any .NET language), ``go``,
    ``rust`` or ``ruby``. ``span`` is in characters of the text, including headers and frames.
    """

    language: str
    failures: tuple[TracedFailure, ...]
    span: Span
