"""Measures the write path against the embedder alone: what share of its throughput is left when texts are stored."""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from statistics import median

from vicw_client import AsyncVicwClient, Retry
from vicw_embedding.supervisor import EmbeddingProcess
from vicw_shared.adapters.openai_embedder import OpenAIEmbedder
from vicw_shared.errors import UnavailableError
from vicw_shared.ports import Lane
from vicw_shared.progress import Progress
from vicw_shared.wire.ingest import IngestRequest
from vicw_shared.wrapper import wrap
from vicw_standalone.bench.server import serve
from vicw_standalone.bench.synthetic import Chat
from vicw_standalone.settings import Settings

ROUNDS = 2
BATCH = 100
_POSTS_UNDER_WAY = 3
_EMBEDS_UNDER_WAY = 2  # as the indexer has them
_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Messages a second, one value a round: through POST /ingest, and by the embedder alone."""

    messages: int
    chars: int
    through: tuple[float, ...]
    alone: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median throughput through /ingest ÷ median of the embedder alone; 1 would be a free write path."""
        return median(self.through) / median(self.alone)


async def measure_ingest(settings: Settings, messages: int, progress: Progress) -> IngestReport:
    """Store ``messages`` in a new store and embed the same wrapped texts without storing, in alternating rounds."""
    parts = list(Chat().requests(messages, min(BATCH, math.ceil(messages / ROUNDS))))
    through, alone = [], []
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        process = EmbeddingProcess(settings.embedding, settings.models_dir)
        await process.start()
        embedder = OpenAIEmbedder(uds=process.uds)
        try:
            async with serve(Path(folder), model=settings.embedding.model, models_dir=settings.models_dir) as server:
                for number in range(min(ROUNDS, len(parts))):
                    part = parts[number::ROUNDS]
                    alone.append(await embed_all(embedder, part))
                    through.append(await post_all(server.url, part))
                    progress("storing and embedding", number + 1, ROUNDS)
        finally:
            await embedder.close()
            await process.close()
    chars = sum(len(item.text) for part in parts for item in part.items)
    return IngestReport(messages, chars, tuple(through), tuple(alone))


async def embed_all(embedder: OpenAIEmbedder, parts: Sequence[IngestRequest]) -> float:
    """Return how many messages a second the embedder alone does, on the same wrapped texts."""
    texts = [
        wrap(item.text, domain=part.domain, subtype=item.subtype, name=item.speaker)
        for part in parts
        for item in part.items
    ]
    line = batched(texts, 64)

    async def worker() -> None:
        for batch in line:
            await embedder.embed(batch, Lane.BULK)

    return await _rate(len(texts), [worker() for _ in range(_EMBEDS_UNDER_WAY)])


async def post_all(url: str, parts: Sequence[IngestRequest]) -> float:
    """Return how many messages a second the server at ``url`` stores and finds, three requests under way.

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

    return await _rate(sum(len(p.items) for p in parts), [client() for _ in range(_POSTS_UNDER_WAY)])


async def _rate(count: int, work: Sequence[Coroutine[None, None, None]]) -> float:
    started = time.perf_counter()
    await asyncio.gather(*work)
    return round(count / (time.perf_counter() - started), 2)
