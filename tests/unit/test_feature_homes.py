"""A feature of maintenance lies in one folder, whoever starts it; only adapters of engines lie elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOMES = {
    "services/ingest/vicw_ingest/erasure": ("eras", "forget", "residue", "fingerprint"),
    "services/ingest/vicw_ingest/eviction": ("evict", "capacity"),
    "services/ingest/vicw_ingest/expiry": ("expir",),
}
"""The folder of a feature, and parts of names that only modules of it may have."""
ELSEWHERE = ("shared/vicw_stores/", *(f"shared/vicw_shared/{part}/" for part in ("ports", "model", "wire")))
"""Adapters, ports, what nodes of the graph hold, and messages."""
TWINS = {"embedded", "local", "offline", "online", "platform", "remote", "serving"}
MODULES = [
    str(path.relative_to(ROOT))
    for folder in ("services", "shared")
    for path in (ROOT / folder).glob("**/vicw_*/**/*.py")
]


@pytest.mark.parametrize("home", HOMES)
def test_a_feature_lies_in_one_folder(home: str) -> None:
    inside = {Path(path).stem for path in MODULES if path.startswith(f"{home}/")}
    assert {"service", "api", "cli"} <= inside
    assert not inside & TWINS, "what differs by engine is behind a port"
    outside = [path for path in MODULES if not path.startswith((f"{home}/", *ELSEWHERE))]
    assert len(outside) > 300
    assert [path for path in outside if any(word in path for word in HOMES[home])] == []
