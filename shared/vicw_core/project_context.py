"""The context of a working directory: the Git checkout that it is in. Imports the standard library alone."""

from __future__ import annotations

import os
from pathlib import Path


def project_context(folder: Path) -> str | None:
    """Return the name of the Git checkout around ``folder``; None outside of any. No file is opened."""
    return next((one.name for one in (folder, *folder.parents) if os.path.lexists(one / ".git")), None)


def folder_context(folder: str) -> str:
    """Return the context of a folder: the name of the Git checkout around it, else its own name.

    Only whether files exist is asked, and none is opened. The empty text for a relative path, and for the root of the
    file system.
    """
    own = Path(os.path.normpath(folder))
    return (project_context(own) or own.name) if own.is_absolute() else ""
