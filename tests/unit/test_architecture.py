"""The map of the code in docs/architecture.md names only paths that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_PAGE = _ROOT / "docs" / "architecture.md"
_PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|yml))`")
_SHARED = [f"shared/vicw_{role}" for role in ("shared", "core", "stores", "runtime")]
_BASES = ["", "shared", *_SHARED, "client"] + [
    f"services/{name}{package}"
    for name in ("ingest", "retrieval", "sleep", "embedding", "english", "readers", "standalone", "bench")
    for package in ("", f"/vicw_{name}")
]
"""A path may begin at the top, or inside the package that the text is about."""

PATHS = sorted(set(_PATH.findall(_PAGE.read_text("utf-8"))))


def test_the_architecture_page_contains_paths() -> None:
    assert len(PATHS) > 40
    assert "services/retrieval/vicw_retrieval/access/scope.py" in PATHS


@pytest.mark.parametrize("path", PATHS)
def test_paths_of_the_architecture_page_exist(path: str) -> None:
    places = [_ROOT / base / path for base in _BASES]
    assert any(place.exists() or place.with_suffix(".py").exists() for place in places)
