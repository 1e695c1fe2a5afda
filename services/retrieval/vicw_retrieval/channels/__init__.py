"""The first wave: channels that run at the same time, each within its budget, each allowed to fail alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping

import structlog
from prometheus_client import Counter, Histogram

from vicw_shared.errors import VicwError
from vicw_shared.telemetry.spans import span
from vicw_shared.telemetry.stages import SECONDS as BOUNDS

_log = structlog.get_logger()
FAILED = Counter("vicw_retrieve_channel_failures_total", "Channels left out of an answer", ["channel", "reason"])
SECONDS = Histogram("vicw_retrieve_channel_seconds", "Time of a channel", ["channel"], buckets=BOUNDS)


async def run_channels[T](
    channels: Mapping[str, Awaitable[T]], *, budget_ms: int
) -> tuple[dict[str, T], dict[str, VicwError | None]]:
    """Await all channels; return what came, and the failed ones with their error (None: out of time)."""
    results: dict[str, T] = {}
    failed: dict[str, VicwError | None] = {}

    async def run(name: str, channel: Awaitable[T]) -> None:
        try:
            with span(f"channel.{name}"), SECONDS.labels(name).time():
                async with asyncio.timeout(budget_ms / 1000):
                    results[name] = await channel
        except TimeoutError:
            failed[name] = None
            FAILED.labels(name, "timeout").inc()
        except VicwError as error:
            failed[name] = error
            FAILED.labels(name, "error").inc()
            _log.warning("channel failed", channel=name, error=str(error))

    await asyncio.gather(*(run(name, channel) for name, channel in channels.items()))
    return results, failed
