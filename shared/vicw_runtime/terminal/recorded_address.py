"""The address of the server that has the data directory open, for commands that were told none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vicw_stores.data_dir import DataDirServer


def recorded_address() -> str | None:
    """Return the address of the server that has ``VICW_DATA_DIR``, or the default directory, open.

    None if there is none, or if ``VICW_URL`` or ``VICW_RETRIEVE_URL`` names another one.
    """
    if os.environ.get("VICW_URL") or os.environ.get("VICW_RETRIEVE_URL"):
        return None
    server = recorded_server()
    return server.url if server is not None else None


def recorded_server() -> DataDirServer | None:
    """Return the server that has ``VICW_DATA_DIR``, or the default directory, open, with its owner's token."""
    from vicw_stores.data_dir import DataDir  # a command with an address needs none of this

    return DataDir.read_server(_data_dir())


def beside_data_dir(name: str) -> Path:
    """Return the path of a file of a command's own: beside the data directory, which holds nothing but the data."""
    data_dir = _data_dir()
    return data_dir.with_name(f"{data_dir.name}-{name}")


def _data_dir() -> Path:
    from vicw_shared.default_data_dir import default_data_dir

    return Path(os.environ.get("VICW_DATA_DIR") or default_data_dir()).expanduser()
