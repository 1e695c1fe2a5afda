"""Measures the write path: its share of the embedder's throughput, and what it makes of texts in the graph."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from statistics import median

from vicw_bench.speed.growth import Growth, embedded_texts, growth_of
from vicw_bench.speed.server import serve
from vicw_client import AsyncVicwClient, Retry
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane
from vicw_shared.progress import Progress
from vicw_shared.wire.ingest import Extract, IngestRequest
from vicw_standalone.settings import StandaloneSettings

_POSTS_UNDER_WAY = 3
_EMBEDS_UNDER_WAY = 2  # as the indexer has them
_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Texts a second, one value a round: through POST /ingest, and the same texts by the embedder alone.

    ``texts`` are passages and the statements that have a vector of their own, ``chars`` those of the texts with their
    wrapping; ``growth`` is that of all rounds together.
    """

    items: int
    texts: int
    chars: int
    through: tuple[float, ...]
    alone: tuple[float, ...]
    growth: Growth

    @property
    def ratio(self) -> float:
        """Throughput through /ingest ÷ that of the embedder alone, median over the rounds; 1 is a free write path."""
        return median(a / b for a, b in zip(self.through, self.alone, strict=True))


async def measure_ingest(
    settings: StandaloneSettings, requests: Sequence[IngestRequest], extract: Extract, rounds: int, progress: Progress
) -> IngestReport:
    """Store each round's part of the requests in a new store, then embed what that has embedded without storing it."""
    through, alone, grown, texts, chars = [], [], Growth(), 0, 0
    rounds = min(rounds, len(requests))
    process = EmbeddingProcess(settings.embedding, settings.models_dir)
    await process.start()
    embedder = OpenAIEmbedder(uds=process.uds)
    try:
        for number in range(rounds):
            part = [each.model_copy(update={"extract": extract}) for each in requests[number::rounds]]
            with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
                store = Path(folder)
                async with serve(store, model=settings.embedding.model, models_dir=settings.models_dir) as server:
                    stored = await post_all(server.url, part)
                found = await embedded_texts(store)
                grown += growth_of(store)
            through.append(round(len(found) / stored, 2))
            alone.append(round(len(found) / await embed_all(embedder, found), 2))
            texts, chars = texts + len(found), chars + sum(map(len, found))
            progress("storing and embedding", number + 1, rounds)
    finally:
        await embedder.close()
        await process.close()
    items = sum(len(request.items) for request in requests)
    return IngestReport(items, texts, chars, tuple(through), tuple(alone), grown)


async def embed_all(embedder: OpenAIEmbedder, texts: Sequence[str]) -> float:
    """Return the seconds that the embedder alone takes for wrapped texts."""
    line = batched(texts, 64)

    async def worker() -> None:
        for batch in line:
            await embedder.embed(batch, Lane.BULK)

    return await _seconds([worker() for _ in range(_EMBEDS_UNDER_WAY)])


async def post_all(url: str, parts: Sequence[IngestRequest]) -> float:
    """Return the seconds until the server at ``url`` has stored all and finds it, three requests under way.

    Raises VicwClientError if it refuses one, UnavailableError if it answers before all is found.
    """
    line = iter(parts)

    async def client() -> None:
        # A second try would be measured as a slow first one.
        async with AsyncVicwClient(url, timeout_seconds=_TIMEOUT_SECONDS, retry=Retry(attempts=1)) as connection:
            for part in line:
                stored = await connection.ingest(part.model_copy(update={"wait": True}))
                if stored.job is not None:
                    raise UnavailableError("server", "/ingest did not wait until everything was found")

    return await _seconds([client() for _ in range(_POSTS_UNDER_WAY)])


async def _seconds(work: Sequence[Coroutine[None, None, None]]) -> float:
    started = time.perf_counter()
    await asyncio.gather(*work)
    return time.perf_counter() - started
