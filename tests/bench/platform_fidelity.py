"""``python tests/bench/platform_fidelity.py --data DIR``: what the separate services find, over real servers.

Beside it what ``vicw bench fidelity`` finds in one process on the same sets. Servers come from where the tests take
them (VICW_TEST_NEO4J_URL …, this machine, Docker); the memory is filled through ``/ingest`` and its worker. Questions
are asked with the settings that users have; ``--busy N`` asks them once more beside N busy loops.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.processes.platform import Platform
from support.processes.server import VICW
from support.servers.neo4j.server import NEO4J
from support.servers.qdrant import QDRANT
from support.servers.redis import REDIS
from support.servers.run import Run

_AS_DEPLOYED = ("VICW_INGEST_BATCH", "VICW_REDIS_POLL_SECONDS", "VICW_INGEST_WAIT_SECONDS")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of sets (docs/bench.md)")
    parser.add_argument("--sets", default="locomo", help="separated by commas")
    parser.add_argument("--busy", type=int, default=0, help="ask once more beside so many busy loops")
    options = parser.parse_args()
    asked = [str(VICW), "bench", "fidelity", "--data", str(options.data), "--sets", options.sets]
    asked += ["--busy", str(options.busy)]
    run = Run()
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        models = Path(folder) / "models"
        platform = Platform(Path(folder), models, run.shared(NEO4J), run.shared(QDRANT), run.shared(REDIS))
        for variable in _AS_DEPLOYED:  # how the tests set it up is for tests
            platform.variables.pop(variable, None)
        for variable in [name for name in platform.variables if name.startswith("VICW_RETRIEVAL_")]:
            del platform.variables[variable]
        try:
            platform.start()
            platform.worker().start()
            print("Separate services, over real servers:", flush=True)
            apart = ["--url", platform.ingest.url, "--retrieve-url", platform.retrieval.url]
            subprocess.run([*asked, *apart], check=True)
        finally:
            platform.close()
            run.close()
    print("One process, embedded stores:", flush=True)
    subprocess.run(asked, check=True)


if __name__ == "__main__":
    main()
