"""The project that an agent works on: its folder, and the file that switches memory off in it.

Imports the standard library alone: the command that hooks run starts with it.
"""

from __future__ import annotations

import os
from pathlib import Path

OFF_FILE = ".vicw-off"
"""A file of this name in a folder switches memory off there and in all folders below."""


def is_off(folder: str) -> bool:
    """Return whether memory is switched off in a folder, by ``.vicw-off`` in it or above it."""
    own = Path(os.path.normpath(folder))
    return own.is_absolute() and any(os.path.lexists(one / OFF_FILE) for one in (own, *own.parents))
