"""``PYTHONPATH=tests python tests/bench/agents_at_once.py [--agents 20] [--minutes 10]``: many agents, one memory.

Each agent has a connection of its own (HTTP in either era of the protocol, or ``vicw mcp``), and remembers, recalls,
retracts and traces without a rest, with hooks in between. An error of any of them ends the run. Prints how many calls
each tool got and the slowest, what was acknowledged and is not there, and what ``vicw check`` says in the end.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from support.processes.server import Server, await_indexed, run, temporary_directory
from support.stories.agents import stored, work_at_once


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with temporary_directory() as directory:
        server = Server(directory / "data", Path(directory) / "models")
        server.start()
        work = await work_at_once(server, options.agents, options.minutes * 60, directory)
        await_indexed(server)
        found = await stored(server)
        for tool, calls in work.calls.most_common():
            print(f"{tool:10} {calls:6} calls, slowest {work.slowest.get(tool, 0):.2f} s")
        print(f"live items lost: {len(work.live - found)} of {len(work.live)}")
        print(f"retracted items still there: {len(work.retracted & found)} of {len(work.retracted)}")
        print(f"exit code of the server: {server.stop(within=15)}")
        report = run(server, "check")
        print(f"vicw check ({report.returncode}):\n{report.stdout}{report.stderr}")


if __name__ == "__main__":
    asyncio.run(main())
