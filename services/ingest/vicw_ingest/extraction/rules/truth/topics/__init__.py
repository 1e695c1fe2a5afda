"""The patterns of plain cases, by what they are of; of two that fit a clause, the first tells."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_ingest.extraction.rules.truth.grammar import Pattern
from vicw_ingest.extraction.rules.truth.topics import (
    attributes,
    counts,
    dates,
    deeds,
    homes,
    names,
    owners,
    people,
    prices,
    states,
    work,
)

PATTERNS: Sequence[Pattern] = (
    *homes.PATTERNS,
    *dates.PATTERNS,
    *work.PATTERNS,
    *people.PATTERNS,
    *owners.PATTERNS,
    *names.PATTERNS,
    *prices.PATTERNS,
    *counts.PATTERNS,
    *attributes.PATTERNS,
    *states.PATTERNS,
    *deeds.PATTERNS,
)
