"""What an examination finds."""

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
    """One thing looked at. ``fix`` is empty where nothing is to be done."""

    what: str
    verdict: Severity
    detail: str
    fix: str = ""
