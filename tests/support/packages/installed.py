"""A package that is installed for the time of a test, with an entry point."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def install(folder: Path, patch: pytest.MonkeyPatch, *, module: str, body: str, group: str, entry: str) -> None:
    """Install a package of one module as pip would; ``entry`` is a line of ``entry_points.txt``."""
    (folder / f"{module}.py").write_text(body)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    patch.syspath_prepend(str(folder))
    patch.delitem(sys.modules, module, raising=False)
