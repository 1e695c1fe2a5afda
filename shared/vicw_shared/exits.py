"""With what code a process ends, after sysexits, so that whatever supervises it knows what to do."""

from __future__ import annotations

from vicw_shared.errors import RetryableError, VicwError

FATAL = 78
"""EX_CONFIG: a person has to act."""
LATER = 75
"""EX_TEMPFAIL: something is not up yet, or was lost; start it again in a while."""


def exit_code(error: VicwError) -> int:
    """Return the code of a process that ends by this error."""
    return LATER if isinstance(error, RetryableError) else FATAL
