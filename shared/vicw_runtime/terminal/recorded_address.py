"""The address of the server that has the data directory open, for commands that were told none."""

from __future__ import annotations

import os
from pathlib import Path


def recorded_address() -> str | None:
    """Return the address of the server that has ``VICW_DATA_DIR``, or the default directory, open.

    None if there is none, or if ``VICW_URL`` or ``VICW_RETRIEVE_URL`` names another one.
    """
    if os.environ.get("VICW_URL") or os.environ.get("VICW_RETRIEVE_URL"):
        return None
    from vicw_shared.default_data_dir import default_data_dir  # a command with an address needs none of this
    from vicw_stores.data_dir import DataDir

    return DataDir.read_address(Path(os.environ.get("VICW_DATA_DIR") or default_data_dir()).expanduser())
