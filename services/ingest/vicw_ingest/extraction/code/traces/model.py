"""Result model of stack trace parsing.

Representation in the graph:

* a ``TracedFailure``: ``Event`` of subtype ``error``, named ``error: message``, ``EVIDENCED_BY`` its passage;
* what brought it about, the next failure of its trace: ``CAUSED {certainty}`` from that one to this, near 1 for
  ``FailureLink.CAUSED`` (stated by the program), lower for ``FailureLink.DURING`` (raised while that was handled);
* its innermost frame that is no library's: ``RELATED_TO {desc: "failed in"}`` to the function (``Entity``, subtype
  ``function``) that stands in the file (``CONTAINS``); the other own frames: ``MENTIONS``; a library's: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vicw_shared.language.tokens import Span


class FailureLink(StrEnum):
    """How the next failure of a trace brought one about."""

    CAUSED = "caused"
    DURING = "during"
    """It came up while the other was being handled."""


@dataclass(frozen=True, slots=True)
class TraceFrame:
    """A position in the program. Each of ``function``, ``file`` and ``line`` (from 1) is None where the trace has none.

    ``function`` is as printed, with its class or package, without arguments. ``library`` tells that its file or its
    package plainly is no code of the user's own; a library that looks like own code is taken for it.
    """

    function: str | None
    file: str | None
    line: int | None
    library: bool


@dataclass(frozen=True, slots=True)
class TracedFailure:
    """An error with its frames, the innermost first.

    ``error`` is its type as printed (``panic`` in Go and Rust), ``message`` may be ``""``. ``elided`` is how many
    frames the trace leaves out. ``link`` tells how the next failure brought this one about, None if it is the last.
    ``span`` is in characters of the text, from the error or its first frame on.
    """

    error: str
    message: str
    frames: tuple[TraceFrame, ...]
    elided: int
    link: FailureLink | None
    span: Span

    @property
    def own(self) -> TraceFrame | None:
        """Return the innermost frame that is no library's, or None if there is none."""
        return next((frame for frame in self.frames if not frame.library), None)


@dataclass(frozen=True, slots=True)
class StackTrace:
    """Failures of which each was brought about by the next: the first is what the program ended with.

    ``language`` is ``python``, ``java`` (any of the JVM's), ``javascript``, ``csharp`` (any of .NET's), ``go``,
    ``rust`` or ``ruby``. ``span`` is in characters of the text, heads and frames included.
    """

    language: str
    failures: tuple[TracedFailure, ...]
    span: Span

    @property
    def outer(self) -> TracedFailure:
        """Return the failure that ended the program."""
        return self.failures[0]

    @property
    def root(self) -> TracedFailure:
        """Return the root failure."""
        return self.failures[-1]
