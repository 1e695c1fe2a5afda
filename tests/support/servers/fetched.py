"""What tests fetch once a machine, by a tool that knows where from."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from support.servers.sources import Unavailable


def fetched(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return a folder of this machine's cache; have ``fetch`` fill it if there is none. Raises what ``fetch`` does."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vicw"
    folder = cache / name
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        # Runs that start together fetch once; the folder gets its name when it is whole.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=cache, prefix=f".{name.partition('-')[0]}-") as aside:
                fetch(Path(aside) / "whole")
                (Path(aside) / "whole").rename(folder)
    return folder


def have_fetched(command: Sequence[str], tool: str, what: str, within: float, folder: Path | None = None) -> None:
    """Run a command that fetches ``what``, in ``folder``; raise ``Unavailable`` if it fails, or takes too long."""
    try:
        run = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=within,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{tool} had not fetched {what} within {within:g} s") from error
    if run.returncode != 0:
        raise Unavailable(f"{tool} could not fetch {what}:\n{run.stdout[-3000:]}")
