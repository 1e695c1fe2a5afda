"""How fast code is read in each language, and what loading its grammar costs: ``python tests/bench/code_speed.py``."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

CHARACTERS = 200_000
_LOAD = """
import time, tree_sitter
from pathlib import Path
from vicw_core.code import code_analysis as reading
from vicw_core.code import languages
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
before, start = resident(), time.monotonic()
languages.load(languages.LANGUAGES[{!r}])
print(time.monotonic() - start, resident() - before)
"""


def main() -> None:
    """Print a line for each language: MB/s (2 ** 20 bytes), ms and MB of loading, each in a new process."""
    from unit.core.code.test_languages import CASES
    from vicw_core.code.code_analysis import analyse_in_process
    from vicw_core.code.model import Bounds

    bounds = Bounds(symbols=10**6, imports=10**6, calls=10**6, seconds=600)
    print("language    MB/s  load ms  load MB")
    for name, case in CASES.items():
        loading = subprocess.run([sys.executable, "-c", _LOAD.format(name)], check=True, capture_output=True, text=True)
        seconds, megabytes = map(float, loading.stdout.split())
        head, body = ("<?php\n", case.text.removeprefix("<?php\n")) if name == "php" else ("", case.text)
        text = head + body * (CHARACTERS // len(body))
        analyse_in_process(case.text, case.path, name, bounds)
        start = time.process_time()
        analyse_in_process(text, case.path, name, bounds)
        rate = len(text.encode()) / 2**20 / (time.process_time() - start)
        print(f"{name:<11} {rate:4.1f}  {seconds * 1000:7.0f}  {megabytes:7.1f}")
    print(f"peak with all of them: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
