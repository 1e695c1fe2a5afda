"""``python tests/bench/embedding.py``: memory and speed of the embedding process, with the production model's shape.

Weights are random, made once (634 MB, some seconds); ``--model`` measures a real GGUF instead. Figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import aiohttp

from bench import shaped
from vicw_embedding.engine.engine import BATCH_TOKENS
from vicw_embedding.engine.llama import LlamaContext, LlamaModel
from vicw_embedding.models.model_files import read_card
from vicw_runtime.listener import fast_loop
from vicw_shared.ports.embedder import Lane

QUERY_WORDS, TEXT_WORDS, LONG_WORDS = 8, 40, 505
CLIENTS = 16


class Server:
    """The embedding process on a port of its own."""

    def __init__(self, model: Path) -> None:
        environment = os.environ | {
            "VICW_EMBEDDING_MODEL": str(model),
            "VICW_PORT": "0",
            "VICW_LOG_LEVEL": "error",
            "MALLOC_ARENA_MAX": "2",  # as in the image
        }
        command = [sys.executable, "-m", "vicw_embedding"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        ready = self.process.stdout.readline()
        self.url = ready.split()[-1]
        if not self.url.startswith("http"):
            raise SystemExit(f"the embedding process did not start: {ready}")

    def memory(self) -> dict[str, int]:
        """Return MB (1,000,000 bytes): ``RSS``, its parts ``file`` (the mapped weights) and ``own``, and ``peak``."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        values = {
            name: round(int(kib) * 1024 / 1e6) for name, kib in re.findall(r"^(\w+):\s+(\d+) kB", status, re.MULTILINE)
        }
        return {
            "RSS": values["VmRSS"],
            "file": values["RssFile"] + values["RssShmem"],
            "own": values["RssAnon"],
            "peak": values["VmHWM"],
        }

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)


class Texts:
    """Texts of a number of tokens, none twice."""

    def __init__(self) -> None:
        self._words = [piece[1:] for piece in shaped.vocabulary() if len(piece) > 3 and piece[0] == "\u2581"]
        self._chance = random.Random(1)

    def of(self, words: int) -> str:
        return " ".join(self._chance.choices(self._words, k=words))


async def embed(session: aiohttp.ClientSession, url: str, texts: list[str], lane: str) -> None:
    body = {"input": texts, "model": "any", "encoding_format": "base64"}
    async with session.post(f"{url}/v1/embeddings", json=body, headers={"X-VICW-Lane": lane}) as answer:
        answer.raise_for_status()
        await answer.read()


async def memory(server: Server, texts: Texts) -> None:
    """Print what the process holds at rest and after the longest texts in both lanes at once."""
    print(f"\n{'memory, MB':36}{'RSS':>8}{'file':>8}{'own':>8}{'peak':>8}")

    def row(name: str) -> None:
        held = server.memory()
        print(f"{name:36}" + "".join(f"{held[key]:8}" for key in ("RSS", "file", "own", "peak")))

    row("started, nothing embedded yet")
    async with aiohttp.ClientSession() as session:
        await embed(session, server.url, [texts.of(QUERY_WORDS)], "query")
        row("after a question")
        for _ in range(2):
            await asyncio.gather(
                embed(session, server.url, [texts.of(LONG_WORDS) for _ in range(4)], "bulk"),
                embed(session, server.url, [texts.of(LONG_WORDS)], "query"),
            )
    row("after 512 tokens in both lanes")


async def throughput(server: Server, texts: Texts, rounds: int) -> None:
    """Print texts a second of one client and of sixteen at once, measured in turns."""
    alone: list[float] = []
    together: list[float] = []
    async with aiohttp.ClientSession() as session:

        async def one() -> None:
            await embed(session, server.url, [texts.of(TEXT_WORDS)], "bulk")

        for _ in range(rounds):
            began = time.perf_counter()
            for _ in range(CLIENTS):
                await one()
            alone.append(CLIENTS / (time.perf_counter() - began))
            began = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(CLIENTS)))
            together.append(CLIENTS / (time.perf_counter() - began))
    ratio = statistics.median(b / a for a, b in zip(alone, together, strict=True))
    print(
        f"\ntexts of {TEXT_WORDS} words a second: one client {statistics.median(alone):.2f}, "
        f"{CLIENTS} clients {statistics.median(together):.2f}, ratio {ratio:.2f}"
    )


async def question(server: Server, context: LlamaContext, model: LlamaModel, texts: Texts, rounds: int) -> None:
    """Print how long an idle process takes for a question, beside llama.cpp called without any of it."""

    async def timed(work: Callable[[], Awaitable[object]]) -> float:
        await asyncio.sleep(0.3)  # idle
        began = time.perf_counter()
        await work()
        return (time.perf_counter() - began) * 1000

    direct: list[float] = []
    served: list[float] = []
    async with aiohttp.ClientSession() as session:
        for _ in range(rounds):
            text = texts.of(QUERY_WORDS)

            async def alone(text: str = text) -> None:
                context.embed([model.frame.around(model.tokenize(text))])

            direct.append(await timed(alone))
            served.append(await timed(lambda text=text: embed(session, server.url, [text], "query")))  # type: ignore[misc]
    ratio = statistics.median(b / a for a, b in zip(direct, served, strict=True))
    print(
        f"a question of {QUERY_WORDS} words, ms: llama.cpp directly {statistics.median(direct):.0f}, "
        f"served {statistics.median(served):.0f}, ratio {ratio:.2f}"
    )


@contextmanager
def model_at(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    path = Path(tempfile.gettempdir()) / "vicw-bench-shaped-q8_0.gguf"
    if not path.exists():
        print(f"making {path}", file=sys.stderr)
        partial = path.with_suffix(".partial")
        shaped.make(partial)
        partial.replace(path)
    yield path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF to measure, instead of random weights")
    parser.add_argument("--rounds", type=int, default=7, help="repetitions of each measurement")
    options = parser.parse_args()
    with model_at(options.model) as path:
        print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB")
        texts = Texts()
        server = Server(path)
        try:
            asyncio.run(memory(server, texts), loop_factory=fast_loop())
            asyncio.run(throughput(server, texts, options.rounds), loop_factory=fast_loop())
            model = LlamaModel(path)
            context = LlamaContext(
                model, read_card(path).pooling, threads=os.cpu_count() or 1, batch_tokens=BATCH_TOKENS[Lane.QUERY]
            )
            asyncio.run(question(server, context, model, texts, options.rounds), loop_factory=fast_loop())
        finally:
            server.close()


if __name__ == "__main__":
    main()
