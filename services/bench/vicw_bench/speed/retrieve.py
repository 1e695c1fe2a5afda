"""Measures the read path's speed over HTTP: the real server, the real embedding process, keep-alive clients."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from vicw_bench.filling import Filled, read_marker, write_marker
from vicw_bench.metrics import percentile
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.speed.server import ResidentSize, disk_mb, serve
from vicw_bench.speed.synthetic import Chat
from vicw_bench.targets import open_local
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import SettingsError, UnavailableError
from vicw_shared.ports import ModelIdentity
from vicw_shared.progress import Progress
from vicw_standalone.settings import StandaloneSettings

_WARM_UP = 10
_UNDER_WAY = 8
_FILL_BATCH = 200
_TIMEOUT_SECONDS = 120.0
_HEADERS = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Latency:
    """Round trips of distinct questions by ``clients`` at a time, in ms; ``stages`` are medians of took_ms."""

    clients: int
    queries: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    queries_per_second: float
    stages: dict[str, float]
    stages_p95: dict[str, float]


@dataclass(frozen=True, slots=True)
class SpeedReport:
    """A store of ``memories`` items: how it answers and what it takes."""

    memories: int
    fill_seconds: float
    disk_mb: float
    resident: dict[str, ResidentSize]
    latencies: tuple[Latency, ...]


async def identity_of(settings: StandaloneSettings) -> ModelIdentity:
    """Return the identity of the model that the settings name; its process is started for that, and ended."""
    if settings.storage.embedder == "none":
        raise SettingsError("this measures our own embedding process; unset VICW_EMBEDDER")
    if settings.embedding.url is not None:
        raise SettingsError("bench speed measures our own embedding process; unset VICW_EMBEDDING_URL")
    async with contextlib.AsyncExitStack() as stack:
        process = EmbeddingProcess(settings.embedding, settings.models_dir)
        stack.push_async_callback(process.close)
        await process.start()
        embedder = OpenAIEmbedder(uds=process.uds)
        stack.push_async_callback(embedder.close)
        return await embedder.identity()


async def fill_synthetic(
    settings: StandaloneSettings, store: Path, identity: ModelIdentity, memories: int, progress: Progress
) -> Filled:
    """Write ``memories`` items through the real write path with random vectors, unless they are there already."""
    known = read_marker(store)
    if known is not None:
        return known
    started, done, chars = time.monotonic(), 0, 0
    async with open_local(settings, store, SeededEmbedder(identity)) as target:
        waiting = []
        for request in Chat().requests(memories, _FILL_BATCH):
            waiting.append(await target.remember(request))
            chars += sum(len(item.text) for item in request.items)
            if len(waiting) > _UNDER_WAY:
                await target.settled(waiting.pop(0))
            done += len(request.items)
            progress(f"{memories}: remembering", done, memories)
        for response in waiting:
            await target.settled(response)
    filled = Filled(memories, memories, chars, round(time.monotonic() - started, 3))
    write_marker(store, filled)
    return filled


async def measure_speed(
    settings: StandaloneSettings,
    store: Path,
    identity: ModelIdentity,
    memories: int,
    clients: Sequence[int],
    queries: int,
    progress: Progress,
) -> SpeedReport:
    """Fill a store where needed, serve it, and ask it ``queries`` distinct questions for each number of clients."""
    filled = await fill_synthetic(settings, store, identity, memories, progress)
    asked = Chat().questions(_WARM_UP + queries * len(clients))
    latencies = []
    async with serve(store, model=settings.embedding.model, models_dir=settings.models_dir) as server:
        await ask(server.url, asked[:_WARM_UP], 1)
        for number, count in enumerate(clients):
            start = _WARM_UP + number * queries
            progress(f"{memories}: asking, {count} at a time", 0, 1)
            latencies.append(await ask(server.url, asked[start : start + queries], count))
            progress(f"{memories}: asking, {count} at a time", 1, 1)
        resident = server.resident()
    return SpeedReport(memories, filled.seconds, round(disk_mb(store), 1), resident, tuple(latencies))


async def ask(url: str, questions: Sequence[str], clients: int, *, rest_seconds: float = 0.0) -> Latency:
    """Ask every question once, ``clients`` at a time, each over a connection of its own, which rests after each."""
    line = iter(questions)
    times: list[float] = []
    stages: dict[str, list[float]] = {}

    def client() -> None:  # on a thread: the client of the standard library takes the least time of its own
        with contextlib.closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=_TIMEOUT_SECONDS)) as server:
            for question in line:
                started = time.perf_counter()
                server.request("POST", "/retrieve", json.dumps({"query": question}), _HEADERS)
                response = server.getresponse()
                body = response.read()
                times.append((time.perf_counter() - started) * 1000)
                time.sleep(rest_seconds)
                if response.status != 200:
                    raise UnavailableError("server", f"/retrieve answered {response.status}: {body[:200]!r}")
                for stage, ms in json.loads(body)["took_ms"].items():
                    stages.setdefault(stage, []).append(ms)

    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        await asyncio.gather(*(asyncio.wrap_future(threads.submit(client)) for _ in range(clients)))
    seconds = time.perf_counter() - started
    return Latency(
        clients=clients,
        queries=len(times),
        p50_ms=round(percentile(times, 0.5), 2),
        p95_ms=round(percentile(times, 0.95), 2),
        p99_ms=round(percentile(times, 0.99), 2),
        queries_per_second=round(len(times) / seconds, 2),
        stages={stage: round(median(values), 2) for stage, values in stages.items()},
        stages_p95={stage: round(percentile(values, 0.95), 2) for stage, values in stages.items()},
    )
