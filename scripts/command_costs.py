#!/usr/bin/env python3
"""Print the CPU seconds that commands take beside a warm server: the median of several runs of each.

    python scripts/command_costs.py [--runs 9]

It starts a server of this checkout on an empty data directory, and ends it.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

VICW = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "vicw"


def cpu_seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """Return the CPU seconds of a command, its children included. Raises CalledProcessError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    runs: int = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        notes = folder / "notes.txt"
        notes.write_text("The deploy failed because the certificate had expired.\n")
        own = {variable: value for variable, value in os.environ.items() if not variable.startswith("VICW_")}
        environment = own | {"VICW_DATA_DIR": str(folder / "data"), "XDG_STATE_HOME": str(folder / "state")}
        serve = [str(VICW), "serve", "--port", "0"]
        with subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                assert server.stdout is not None
                url = server.stdout.readline().decode().split()[3]
                environment["VICW_URL"] = url
                subprocess.run([VICW, "ingest", notes], env=environment, stdout=sys.stderr, check=True)
                commands = (
                    ["--version"],
                    ["--help"],
                    ["retrieve", "Why did the deploy fail?"],
                    ["ingest", str(notes), "--again"],
                    ["entities", "list", "notes"],
                    ["keys", "list"],
                    ["check"],
                )
                for words in commands:
                    costs = [cpu_seconds([str(VICW), *words], environment) for _ in range(runs)]
                    print(f"{statistics.median(costs):.2f} CPU s (least {min(costs):.2f})  vicw {words[0]}", flush=True)
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
