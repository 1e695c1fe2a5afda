"""The context of a working directory: the project that it is in. Imports the standard library alone."""

from __future__ import annotations

import os
from pathlib import Path


def folder_context(folder: str) -> str:
    """Return the context of a folder: the name of the Git checkout around it, else its own name.

    Only whether files exist is asked, and none is opened. The empty text for what is no project: outside of a checkout
    the home folder and the root of the file system, and a relative path.
    """
    own = Path(os.path.normpath(folder))
    if not own.is_absolute():
        return ""
    checkout = next((one.name for one in (own, *own.parents) if os.path.lexists(one / ".git")), None)
    return checkout or ("" if own == Path.home() else own.name)
