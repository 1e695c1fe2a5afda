"""The project that an agent works on: its folder, and the file that switches memory off in it.

Imports the standard library alone: the command that hooks run starts with it.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

OFF_FILE = ".vicw-off"
"""A file of this name in a folder switches memory off there and in all folders below."""


def is_off(folder: str) -> bool:
    """Return whether memory is switched off in a folder, by ``.vicw-off`` in it or above it."""
    own = Path(os.path.normpath(folder))
    return own.is_absolute() and any(os.path.lexists(one / OFF_FILE) for one in (own, *own.parents))


def note_checkout(checkout: Path) -> Path | None:
    """Note where a checkout is, and return another one of its name when it is noted for the first time; None: no other.

    The notes are beside the data directory. Those of checkouts that are gone are dropped; if they cannot be written,
    nothing is said.
    """
    from vicw_runtime.terminal.recorded_address import beside_data_dir

    notes = beside_data_dir("checkouts.json")
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        known = json.loads(notes.read_bytes()) if notes.exists() else {}
        same = [one for one in known.get(checkout.name, []) if os.path.lexists(Path(one, ".git"))]
        if str(checkout) in same:
            return None
        notes.parent.mkdir(parents=True, exist_ok=True)
        written = notes.with_name(f"{notes.name}.{os.getpid()}")  # replaced as a whole: sessions begin at one time
        written.write_text(json.dumps(known | {checkout.name: [*same, str(checkout)]}))
        written.replace(notes)
        return Path(same[0]) if same else None
    return None
