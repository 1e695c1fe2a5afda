"""Steps of entity resolution in the log."""

from __future__ import annotations

from vicw_shared.ports import MaintenanceStep

INTO = "into"
"""Detail of a step: the canonical entity of its subject. Names are not kept, since erasure would have to remove
them.
"""


def ends_of(step: MaintenanceStep) -> tuple[str, str]:
    """Return the uids of the two entities that a step merged."""
    return step.subject, str(step.details.get(INTO))
