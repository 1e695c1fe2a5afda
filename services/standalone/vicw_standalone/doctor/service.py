"""Run the checks one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from vicw_standalone.doctor.data import data
from vicw_standalone.doctor.findings import Finding, Severity
from vicw_standalone.doctor.machine import engines, extractor, memory, names, processor, room, server
from vicw_standalone.doctor.variables import variables
from vicw_standalone.settings import StandaloneSettings

type _Check = Callable[[StandaloneSettings], Finding | Iterator[Finding]]
_CHECKS: tuple[_Check, ...] = (processor, memory, engines, extractor, variables, data, room, server, names)


def examine(settings: StandaloneSettings) -> Iterator[Finding]:
    """Run all checks and yield their findings.

    Creates the data directory if it is missing; stored data is only read, even beside a running server.
    """
    for check in _CHECKS:
        try:
            result = check(settings)
            yield from [result] if isinstance(result, Finding) else result
        except Exception as error:
            yield Finding(check.__name__, Severity.PROBLEM, str(error), "Report this with the text above")
