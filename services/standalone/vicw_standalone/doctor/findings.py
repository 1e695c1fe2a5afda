"""Findings of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is. Only ``PROBLEM`` keeps the server from working."""

    FINE = "fine"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. ``fix`` is empty if nothing needs to be done."""

    what: str
    verdict: Severity
    detail: str
    fix: str = ""
