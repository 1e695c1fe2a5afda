"""The context of a working directory: the Git checkout that it is in."""

from __future__ import annotations

import os
from pathlib import Path


def project_context(folder: Path) -> str | None:
    """Return the name of the Git checkout around ``folder``; None outside of any. No file is opened."""
    return next((one.name for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)
