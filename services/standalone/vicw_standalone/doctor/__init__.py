"""What is wrong with this machine, these settings or what is stored, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vicw_standalone.doctor.data import data
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.doctor.machine import engines, memory, processor, room, server
from vicw_standalone.doctor.variables import variables
from vicw_standalone.settings import StandaloneSettings

__all__ = ["Finding", "Severity", "examine"]

type _Check = Callable[[StandaloneSettings], Finding | Iterator[Finding]]
_CHECKS: tuple[_Check, ...] = (processor, memory, engines, variables, data, room, server)


def examine(settings: StandaloneSettings) -> Iterator[Finding]:
    """Look at everything, one finding after the other.

    Changes nothing but creating the data directory: what is stored is only read, beside a running server too.
    """
    for check in _CHECKS:
        try:
            found = check(settings)
            yield from [found] if isinstance(found, Finding) else found
        except Exception as error:
            yield Finding(check.__name__, Severity.PROBLEM, str(error), "Report this with the text above")
