"""Where modules of builds before are now: an extension that imports a former name is told the new one."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = __package__
MOVED: Mapping[str, tuple[str, ...]] = {
    "adapters": (
        "vicw_stores",
        "vicw_runtime.model_servers",
        "vicw_runtime.queue",
        "vicw_runtime.telemetry",
    ),
    "archive": ("vicw_core.archive",),
    "background": ("vicw_core.background",),
    "background_throttle": ("vicw_runtime.background_throttle",),
    "canonical": ("vicw_core.graph.canonical",),
    "chains": ("vicw_core.graph.chains",),
    "consolidation": ("vicw_core.consolidation",),
    "decay": ("vicw_core.graph.decay",),
    "dreams": ("vicw_core.graph.dreams",),
    "edge_factory": ("vicw_core.graph.edge_factory",),
    "exit_codes": ("vicw_runtime.exit_codes",),
    "fingerprints": ("vicw_ingest.erasure.fingerprints",),
    "heading_anchors": ("vicw_core.text.heading_anchors",),
    "http": ("vicw_runtime.http",),
    "identity": ("vicw_core.identity",),
    "index_diff": ("vicw_core.index.diff",),
    "indexes": ("vicw_runtime.indexes",),
    "job_runs": ("vicw_runtime.job_runs",),
    "language": ("vicw_core.language", "vicw_english.tagging"),
    "liveness": ("vicw_runtime.liveness",),
    "logs": ("vicw_runtime.logs",),
    "platform": ("vicw_runtime.platform",),
    "points": ("vicw_core.index.points",),
    "sparse": ("vicw_core.index.sparse",),
    "telemetry.serving": ("vicw_runtime.telemetry.serving",),
    "telemetry.shared_metrics": ("vicw_runtime.telemetry.shared_metrics",),
    "telemetry.tracing": ("vicw_runtime.telemetry.tracing",),
    "throttled_indexes": ("vicw_runtime.throttled_indexes",),
    "undo": ("vicw_core.undo",),
    "untrusted_text": ("vicw_core.text.untrusted_text",),
    "wrapper": ("vicw_core.index.wrapper",),
    "tokens": ("vicw_shared.text",),
}
"""Former names of modules of this package to the current ones. A package stands for all of its modules."""


def new_place(error: ImportError) -> str | None:
    """Return a sentence with the new place of what an import did not find; None if it has none."""
    names = [error.name or "", f"{error.name}.{error.name_from}"]
    former = next((name for name in names if name.removeprefix(f"{_PACKAGE}.") in MOVED), None)
    if former is None:
        return None
    return f"{former} is now {' and '.join(MOVED[former.removeprefix(f'{_PACKAGE}.')])}"
