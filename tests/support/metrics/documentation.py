"""What docs/metrics.md lists, and what the code registers."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client import REGISTRY

ROOT = Path(__file__).parents[3]
_PACKAGES = (
    "vicw_shared",
    "vicw_ingest",
    "vicw_retrieval",
    "vicw_sleep",
    "vicw_embedding",
    "vicw_standalone",
    "vicw_bench",
)
_ROW = re.compile(r"^\| `(vicw_\w+)` \| (\w+) \| ((?:`\w+`(?:, )?)*) ?\| (.+) \|$", re.MULTILINE)


class Listed(NamedTuple):
    """A metric by the name that is asked for."""

    name: str
    type: str
    labels: tuple[str, ...]


def documented() -> list[Listed]:
    rows = _ROW.findall((ROOT / "docs" / "metrics.md").read_text("utf-8"))
    return [Listed(name, kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels, _ in rows]


def registered() -> list[Listed]:
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    collectors: set[Any] = set(REGISTRY._collector_to_names)
    return [
        Listed(c._name + ("_total" if c._type == "counter" else ""), c._type, tuple(c._labelnames))
        for c in collectors
        if getattr(c, "_name", "").startswith("vicw_")
    ]


def samples(metric: Listed) -> set[str]:
    """Return the names of the series that a metric has."""
    return (
        {metric.name + part for part in ("_bucket", "_sum", "_count")} if metric.type == "histogram" else {metric.name}
    )
