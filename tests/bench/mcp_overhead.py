"""What a tool costs over the endpoint behind it: ``PYTHONPATH=tests python tests/bench/mcp_overhead.py [ITEMS]``.

Fills a store with so many items (10,000), asks `/retrieve` and `recall` the same questions in turn over one connection
each, in both eras of the protocol, and prints milliseconds; then the CPU seconds of `vicw mcp` from its start to its
first answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from support.clients.served import serve
from support.processes.server import VICW, environment, temporary_directory
from support.stores.memory import Memory, open_memory
from vicw_standalone.app import create_standalone_app

ROUNDS, STARTS = 200, 10
THINGS = "ferry buoy quay pump crane rope anchor signal storm harbour".split()
LEGACY = {"MCP-Protocol-Version": "2025-06-18"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "recall"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def fill(memory: Memory, items: int) -> None:
    texts = [
        f"The {THINGS[n % 10]} number {n} belongs to the {THINGS[n // 10 % 10]} of pier {n % 97}." for n in range(items)
    ]
    for start in range(0, items, 500):
        batch = ({"id": f"i{n}", "text": texts[n]} for n in range(start, min(items, start + 500)))
        await memory.ingest(*batch, context="Harbour", extract="none")


def recall(query: str, meta: Mapping[str, Any]) -> dict[str, Any]:
    params = {"name": "recall", "arguments": {"query": query}} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def timed(http: httpx.AsyncClient, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> float:
    started = time.perf_counter()
    answer = await http.post(path, json=body, headers={"Accept": "application/json, text/event-stream", **headers})
    taken = (time.perf_counter() - started) * 1000
    content = answer.raise_for_status().json()
    assert "results" in content or not content["result"].get("isError"), content
    return taken


async def compare(url: str) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {"/retrieve": [], "recall, 2026-07-28": [], "recall, 2025-06-18": []}
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as http:
        for number in range(-10, ROUNDS):
            query = f"Which {THINGS[number % 10]} belongs to pier {number % 97}?"
            asked = {"query": query, "context": "Harbour", "limit": 5, "budget": {"tokens": 1500}}
            for name, path, body, headers in (
                ("/retrieve", "/retrieve", asked, {}),
                ("recall, 2026-07-28", "/mcp/Harbour", recall(query, META), MODERN),
                ("recall, 2025-06-18", "/mcp/Harbour", recall(query, {}), LEGACY),
            ):
                milliseconds = await timed(http, path, body, headers)
                if number >= 0:
                    taken[name].append(milliseconds)
    return taken


def cpu_seconds(url: str, folder: Path) -> float:
    """Return the CPU seconds of `vicw mcp` from its start to its first answer and its end."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n"
    process = subprocess.Popen(
        [VICW, "mcp", "--url", url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(folder),
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    assert b'"serverInfo"' in process.stdout.readline()
    process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime


async def main(items: int) -> None:
    with temporary_directory() as folder:
        async with open_memory(folder / "data") as memory:
            await fill(memory, items)
            async with serve(create_standalone_app(memory.standalone)) as url:
                taken = await compare(url)
                starts = [await asyncio.to_thread(cpu_seconds, url, folder) for _ in range(STARTS)]
    base = statistics.median(taken["/retrieve"])
    print(f"{items} items, {ROUNDS} questions each; milliseconds")
    print(f"{'':22}{'p50':>8}{'p95':>8}{'over /retrieve, p50':>22}")
    for name, all_taken in taken.items():
        p50, p95 = statistics.median(all_taken), statistics.quantiles(all_taken, n=20)[-1]
        print(f"{name:22}{p50:8.1f}{p95:8.1f}{p50 - base:22.1f}")
    print(f"vicw mcp, CPU seconds to the first answer: median {statistics.median(starts):.2f}, most {max(starts):.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
