"""``python tests/bench/erasing_beside_questions.py [ITEMS]``: what an erasure costs whoever asks meanwhile.

Fills a store of so many turns (100,000) with random vectors, a thousand of them of one user, and serves it with the
real model. Asks questions one after the other, erases the user, and goes on asking until the erasure is proven. Prints
the questions' milliseconds at rest and meanwhile, their ratio, how long the erasure took, and its proof.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from vicw_bench.speed.retrieve import fill_synthetic, identity_of
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.speed.server import RunningServer, serve
from vicw_bench.speed.synthetic import Chat
from vicw_bench.targets import open_local
from vicw_client import AsyncVicwClient
from vicw_runtime.logs import configure_logs
from vicw_shared.ports import ModelIdentity
from vicw_shared.progress import silent
from vicw_shared.settings import LogSettings
from vicw_shared.wire.ingest import IngestRequest, Item
from vicw_standalone.settings import StandaloneSettings, read_settings

OFF = []
STEPS = []
_USER, _BATCH, _WARM_UP = "the user that goes", 200, 30
_LOOK_SECONDS = 0.2


async def fill(settings: StandaloneSettings, store: Path, identity: ModelIdentity, items: int, of_user: int) -> None:
    """Fill the store; what is there already costs little."""
    await fill_synthetic(settings, store, identity, items - of_user, silent)
    async with open_local(settings, store, SeededEmbedder(identity)) as target:
        for start in range(0, of_user, _BATCH):
            turns = tuple(
                Item(id=f"u{number}", text=f"I said this, and it was number {number}.", speaker="Zoe", user=_USER)
                for number in range(start, start + _BATCH)
            )
            request = IngestRequest(context=f"chat {start // _BATCH % 10}", domain="general", wait=False, items=turns)
            await target.settled(await target.remember(request))


async def ask(
    client: AsyncVicwClient, questions: list[str], until: asyncio.Task[object] | None, rest: float
) -> list[float]:
    """Ask, and rest after each, until the task is done or no question is left; return the answers' milliseconds."""
    times = []
    for question in questions:
        if until is not None and until.done():
            break
        began = time.perf_counter()
        await client.retrieve(query=question)
        times.append((time.perf_counter() - began) * 1000)
        if until is not None: OFF.append((time.time(), times[-1]))
        await asyncio.sleep(rest)
    return times


def shown(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.95)]
    return f"{name:12} {len(times):5} questions, p50 {at[0]:6.1f} ms, p95 {at[1]:6.1f}"


async def measure(server: RunningServer, questions: int, pause: float) -> None:
    """Ask at rest, then beside the erasure."""
    asked = Chat().questions(_WARM_UP + questions + 20_000)
    async with AsyncVicwClient(server.url) as client:
        await ask(client, asked[:_WARM_UP], None, 0)
        rest = await ask(client, asked[_WARM_UP : _WARM_UP + questions], None, pause)
        print(shown("at rest", rest), flush=True)
        began = time.perf_counter()
        erasure = await client.forget(user=_USER, wait=False)

        async def proven() -> object:
            assert erasure.erasure is not None
            while (now := await client.erasure(erasure.erasure)).status == "running":
                STEPS.append((time.time(), now.step))
                await asyncio.sleep(_LOOK_SECONDS)
            return now

        until = asyncio.create_task(proven())
        meanwhile = await ask(client, asked[_WARM_UP + questions :], until, pause)
        done = await until
        print(shown("meanwhile", meanwhile), flush=True)
        import json; json.dump([OFF, STEPS], open("/tmp/w/off.json","w"))
        ratios = [sorted(meanwhile)[int(len(meanwhile) * q)] / sorted(rest)[int(len(rest) * q)] for q in (0.5, 0.95)]
        print(f"ratio        p50 {ratios[0]:.2f}, p95 {ratios[1]:.2f}; erased in {time.perf_counter() - began:.1f} s")
        print(done)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=int, nargs="?", default=100_000)
    parser.add_argument("--user-items", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=300, help="at rest")
    parser.add_argument("--rest", type=float, default=0.2, help="seconds between an answer and the next question")
    parser.add_argument("--store", type=Path, help="where the filled store is, or is to be")
    options = parser.parse_args()
    configure_logs(LogSettings(level="warning"))
    settings = read_settings()
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        store = options.store or Path(folder) / "filled"
        await fill(settings, store, await identity_of(settings), options.items, options.user_items)
        copy = Path(folder) / "store"
        shutil.copytree(store, copy)
        async with serve(copy, model=settings.embedding.model, models_dir=settings.models_dir) as server:
            await measure(server, options.questions, options.rest)


if __name__ == "__main__":
    asyncio.run(main())
