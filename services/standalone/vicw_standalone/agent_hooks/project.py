"""The project that an agent works on: its folder, its context, and the file that switches memory off in it.

Imports the standard library alone: the command that hooks run starts with it.
"""

from __future__ import annotations

import os
from pathlib import Path

from vicw_standalone.terminal.project_context import project_context as checkout_name

OFF_FILE = ".vicw-off"
"""A file of this name in a folder switches memory off there and in all folders below."""


def project_context(folder: str) -> str:
    """Return the context of a folder: the name of the Git checkout around it, else its own name.

    Only whether files exist is asked, and none is opened. The empty text for a relative path, and for the root of the
    file system.
    """
    own = Path(os.path.normpath(folder))
    return (checkout_name(own) or own.name) if own.is_absolute() else ""


def is_off(folder: str) -> bool:
    """Return whether memory is switched off in a folder, by ``.vicw-off`` in it or above it."""
    own = Path(os.path.normpath(folder))
    return own.is_absolute() and any(os.path.lexists(one / OFF_FILE) for one in (own, *own.parents))
