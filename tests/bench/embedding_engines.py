"""``python tests/bench/embedding_engines.py``: all-MiniLM-L6-v2 on both engines, side by side.

Two embedding servers run, GGUF (llama.cpp) and ONNX (onnxruntime); every figure is measured on one after the other, in
turns. Texts are sentences of ``docs/``, or those of ``--texts FILE.jsonl[.gz]`` (field ``text``).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp

from bench.embedding import Server, embed
from support.models import minilm_gguf
from vicw_minilm import FOLDER
from vicw_runtime.listener import fast_loop

ROOT = Path(__file__).parents[2]
REQUEST_TEXTS = 64
QUESTIONS = [
    f"when did {name} talk about {thing}?" for name in ("Ana", "Bo") for thing in ("rain", "the new job", "tea")
]
LONG_BATCHES = 100
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(server: Server) -> float:
    """Return the processor time of the server's process, all its threads."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident(server: Server) -> tuple[float, float]:
    """Return the memory of the server's process in MiB: now, and at its peak."""
    status = Path(f"/proc/{server.process.pid}/status").read_text("ascii")
    kib = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status, re.MULTILINE))
    return int(kib["VmRSS"]) / 1024, int(kib["VmHWM"]) / 1024


def read_texts(file: Path | None, count: int) -> list[str]:
    if file is None:
        prose = "\n\n".join(page.read_text("utf-8") for page in sorted((ROOT / "docs").glob("*.md")))
        sentences = (re.sub(r"\s+", " ", one).strip() for one in re.split(r"(?<=[.:])\s|\n\n|\|", prose))
        texts = [one for one in sentences if len(one) > 20]
    else:
        with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
            texts = [json.loads(line)["text"] for line in lines]
    return (texts * (count // len(texts) + 1))[:count]


async def ingest(server: Server, texts: list[str]) -> tuple[float, float]:
    """Return texts a second and processor milliseconds a text, for requests of 64 texts, two at a time."""
    requests = [texts[start : start + REQUEST_TEXTS] for start in range(0, len(texts), REQUEST_TEXTS)]
    began, spent = time.perf_counter(), cpu_seconds(server)
    async with aiohttp.ClientSession() as session:
        turn = asyncio.Semaphore(2)

        async def one(request: list[str]) -> None:
            async with turn:
                await embed(session, server.url, request, "bulk")

        await asyncio.gather(*map(one, requests))
    return len(texts) / (time.perf_counter() - began), (cpu_seconds(server) - spent) * 1000 / len(texts)


async def questions(server: Server, count: int) -> tuple[float, float]:
    """Return the median of milliseconds and the mean of processor milliseconds a question, one after a pause each."""
    taken: list[float] = []
    spent = cpu_seconds(server)
    async with aiohttp.ClientSession() as session:
        for number in range(count):
            await asyncio.sleep(0.05)
            began = time.perf_counter()
            await embed(session, server.url, [f"{number}: {QUESTIONS[number % len(QUESTIONS)]}"], "query")
            taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken), (cpu_seconds(server) - spent) * 1000 / count


async def longest(server: Server) -> list[float]:
    """Return memory in MiB after 1, 10 and 100 requests of full windows in both lanes at once, and its peak."""
    held: list[float] = []
    texts = ["the river and the stone of that old memory " * count for count in (112, 28)]  # 4 windows, and 1
    async with aiohttp.ClientSession() as session:
        for number in range(1, LONG_BATCHES + 1):
            await asyncio.gather(
                embed(session, server.url, texts[:1], "bulk"), embed(session, server.url, texts[1:], "query")
            )
            if number in {1, 10, LONG_BATCHES}:
                held.append(resident(server)[0])
    return [*held, resident(server)[1]]


async def measure(servers: dict[str, Server], texts: list[str], rounds: int, count: int) -> None:
    async def turns(title: str, ask: str, digits: str) -> None:
        got: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
        for _ in range(rounds):
            for name, server in servers.items():
                got[name].append(await (ingest(server, texts) if ask == "ingest" else questions(server, count)))
        print(f"\n{title}")
        for name, values in got.items():
            first, cpu = (statistics.median(column) for column in zip(*values, strict=True))
            print(f"  {name:6}{first:10.{digits}}{cpu:10.2f}")
        a, b = (statistics.median(value[1] for value in values) for values in got.values())
        print(f"  processor time, GGUF over ONNX: {a / b:.2f}")

    for server in servers.values():
        await ingest(server, texts[:REQUEST_TEXTS])
    await turns(f"{len(texts)} texts: texts a second, processor ms a text", "ingest", "0f")
    await turns("questions: median ms, processor ms a question", "questions", "1f")
    print("\nmemory of the process, MiB, after 1, 10 and 100 requests of full windows in both lanes at once; peak")
    for name, server in servers.items():
        print(f"  {name:6}" + "".join(f"{value:10.0f}" for value in await longest(server)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="texts to embed, instead of sentences of docs/")
    parser.add_argument("--count", type=int, default=640, help="how many texts a round")
    parser.add_argument("--questions", type=int, default=40, help="how many questions a round")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each measurement")
    options = parser.parse_args()
    texts = read_texts(options.texts, options.count)
    with tempfile.TemporaryDirectory() as folder:
        servers = {"GGUF": Server(minilm_gguf.ensure(Path(folder))), "ONNX": Server(FOLDER / "model.onnx")}
        try:
            asyncio.run(measure(servers, texts, options.rounds, options.questions), loop_factory=fast_loop())
        finally:
            for server in servers.values():
                server.close()


if __name__ == "__main__":
    main()
