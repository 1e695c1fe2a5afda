"""Exit codes of a process, after sysexits, for its supervisor."""

from __future__ import annotations

from vicw_shared.errors import RetryableError, VicwError

FATAL = 78
"""EX_CONFIG: an operator has to act."""
LATER = 75
"""EX_TEMPFAIL: a dependency is not up yet, or was lost; the supervisor should restart the process later."""


def exit_code(error: VicwError) -> int:
    """Return the exit code for an error that ends a process."""
    return LATER if isinstance(error, RetryableError) else FATAL
