"""``python tests/bench/same_evidence.py --data DIR``: whether the same questions find the same, as a table.

* ``restart``: before and after the store and the model were closed and opened again.
* ``changes``: after a tenth of the items was changed and a tenth erased, before and after a restart, and against a
  store that was filled so from the start. Each text is embedded once for both, since a model's vector of a text
  depends on its batch.
* ``beside``: R@10 alone, and beside the texts of the other sets, cut into items of many contexts of the same tenant.
  These have random vectors: another context's vectors cannot change an answer, but its words could.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from itertools import batched, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.term_statistics import brought_up_to_date
from vicw_bench.fidelity.measure import AS_SET, ask_all, ensure_filled
from vicw_bench.filling import fill, read_marker, requests, write_marker
from vicw_bench.metrics import Answered, score
from vicw_bench.sets import FidelitySet, Remembered, find_sets, load_set
from vicw_bench.speed.retrieve import identity_of
from vicw_bench.speed.seeded import SeededEmbedder
from vicw_bench.targets import LocalTarget, open_local, store_key
from vicw_embedding.process.supervisor import EmbeddingProcess
from vicw_ingest.erasure.eraser import Eraser
from vicw_ingest.erasure.selection import choose_items
from vicw_runtime.logs import configure_logs
from vicw_runtime.model_servers.openai_embedder import OpenAIEmbedder
from vicw_shared.model import EdgeRegistry
from vicw_shared.ports import Embedder, Lane, ModelIdentity
from vicw_shared.settings import LogSettings
from vicw_shared.wire.ingest import Extract, IngestRequest, Item
from vicw_standalone.settings import StandaloneSettings, read_settings

_PARTS = ("restart", "changes", "beside")
_PIECE = re.compile(r"\S(?s:.{0,400})(?=\s|\Z)")
"""A part of a text as an item by itself."""
_UNDER_WAY = 8


class EmbedsOnce:
    """An embedder that embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, Lane], NDArray[np.float32]] = {}

    async def identity(self) -> ModelIdentity:
        """Return the embedder's."""
        return await self._embedder.identity()

    async def embed(self, texts: Sequence[str], lane: Lane) -> NDArray[np.float32]:
        """Return shape (len(texts), size)."""
        if new := [text for text in dict.fromkeys(texts) if (text, lane) not in self._known]:
            vectors = await self._embedder.embed(new, lane)
            self._known |= {(text, lane): vector for text, vector in zip(new, vectors, strict=True)}
        return np.stack([self._known[text, lane] for text in texts])

    async def close(self) -> None:
        """Nothing to release: who made the embedder closes it."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What all parts need: ``stores`` has the filled stores, ``scratch`` is removed in the end."""

    settings: StandaloneSettings
    stores: Path
    scratch: Path

    async def filled(self, data: FidelitySet) -> Path:
        """Return the store of a set, filled where it is not."""
        store = self.stores / f"{data.name}-{store_key(self.settings, data.digest, Extract.AUTO)}"
        async with open_local(self.settings, store) as target:
            await ensure_filled(target, data, store, lambda *_: None)
            await brought_up_to_date(target)
        return store


async def restart(bench: Bench, data: FidelitySet) -> list[str]:
    """Return a row of the table."""
    store = await bench.filled(data)
    found = []
    for _ in range(2):
        async with open_local(bench.settings, store) as target:
            found.append(await ask_all(target, data, AS_SET, lambda *_: None))
    return [_same(f"{data.name}, before and after a restart", *found)]


async def changes(bench: Bench, data: FidelitySet) -> list[str]:
    """Return two rows of the table."""
    final = replace(data, items=tuple(changed(data.items)))
    gone = [entry for number, entry in enumerate(data.items) if number % 10 == _ERASED]
    async with AsyncExitStack() as stack:
        process = EmbeddingProcess(bench.settings.embedding, bench.settings.models_dir)
        stack.push_async_callback(process.close)
        await process.start()
        model = OpenAIEmbedder(uds=process.uds)
        stack.push_async_callback(model.close)
        embedder = EmbedsOnce(model)
        async with open_local(bench.settings, bench.scratch / f"{data.name}-changed", embedder) as target:
            await fill(target, data, lambda _: None)
            await fill(target, final, lambda _: None)
            await erase(target, gone)
            after = await ask_all(target, data, AS_SET, lambda *_: None)
        async with open_local(bench.settings, bench.scratch / f"{data.name}-changed", embedder) as target:
            again = await ask_all(target, data, AS_SET, lambda *_: None)
        async with open_local(bench.settings, bench.scratch / f"{data.name}-final", embedder) as target:
            await fill(target, final, lambda _: None)
            fresh = await ask_all(target, data, AS_SET, lambda *_: None)
    label = f"{data.name}, a tenth changed and a tenth erased"
    return [_same(f"{label}, before and after a restart", after, again), _same(f"{label}, and filled so", after, fresh)]


_CHANGED, _ERASED = 3, 7


def changed(items: Sequence[Remembered]) -> Iterator[Remembered]:
    """Yield what stays, in order: every tenth item with the text of its successor behind its own."""
    for number, entry in enumerate(items):
        if number % 10 == _CHANGED:
            text = f"{entry.item.text}\n\n{items[(number + 1) % len(items)].item.text}"
            yield replace(entry, item=entry.item.model_copy(update={"text": text}))
        elif number % 10 != _ERASED:
            yield entry


async def erase(target: LocalTarget, entries: Sequence[Remembered]) -> None:
    """Erase items for good."""
    standalone = target._standalone
    eraser = Eraser(standalone.graph, standalone.indexes, EdgeRegistry.with_core_types(), lambda _: None)
    for context in dict.fromkeys(entry.context for entry in entries):
        ids = [str(entry.item.id) for entry in entries if entry.context == context]
        await eraser.begin(await choose_items(standalone.graph, target.tenant, ids, context))
    for erasure in await eraser.pending():
        await eraser.run(erasure)
        await standalone.graph.erasures.end_erasure(erasure)
    await target.drain()


async def beside(
    bench: Bench, data: FidelitySet, others: Sequence[FidelitySet], items: int, contexts: int
) -> list[str]:
    """Return the rows of the table."""
    alone = await bench.filled(data)
    crowded = alone.with_name(f"{alone.name}-beside-{items}-{contexts}")
    if read_marker(crowded) is None:
        shutil.rmtree(crowded, ignore_errors=True)
        shutil.copytree(alone, crowded, ignore=shutil.ignore_patterns("bench-complete.json"))
        embedder = SeededEmbedder(await identity_of(bench.settings))
        async with open_local(bench.settings, crowded, embedder) as target:
            waiting = []
            for request in _crowd(others, items, contexts):
                waiting.append(await target.remember(request))
                if len(waiting) > _UNDER_WAY:
                    await target.settled(waiting.pop(0))
            for response in waiting:
                await target.settled(response)
        filled = read_marker(alone)
        assert filled is not None
        write_marker(crowded, filled)
    found = {}
    for label, store in (("alone", alone), (f"beside {items} items of {contexts} contexts", crowded)):
        async with open_local(bench.settings, store) as target:
            found[label] = await ask_all(target, data, AS_SET, lambda *_: None)
    rows = [f"| {data.name}, R@10 {label} | {score(answers).recall_at_10:.4f} |" for label, answers in found.items()]
    return [*rows, _same(f"{data.name}, alone and beside", *found.values())]


def _crowd(others: Sequence[FidelitySet], items: int, contexts: int) -> Iterator[IngestRequest]:
    """Yield requests that store so many items of these sets, the same number in each context."""
    pieces = (
        Remembered("", entry.domain, Item(id=f"{number}-{at}", text=piece))
        for data in others
        for number, entry in enumerate(data.items)
        for at, piece in enumerate(_PIECE.findall(entry.item.text))
    )
    chosen = list(islice(pieces, items))
    if len(chosen) < items:
        raise SystemExit(f"the other sets make {len(chosen)} items: lower --others")
    for number, part in enumerate(batched(chosen, -(-items // contexts))):
        placed = [replace(entry, context=f"beside {number}") for entry in part]
        yield from requests(placed, Extract.NONE)


def _same(label: str, before: Sequence[Answered], after: Sequence[Answered]) -> str:
    """Compare the answers of which no part ran into an emergency stop."""
    whole = [pair for pair in zip(before, after, strict=True) if not (pair[0].degraded or pair[1].degraded)]
    same = sum(one.found == other.found for one, other in whole)
    recall = " and ".join(f"{score(answers).recall_at_10:.4f}" for answers in zip(*whole, strict=True))
    cut = f"; {len(before) - len(whole)} answers were degraded" if len(whole) < len(before) else ""
    return f"| {label}: same first ten | {same} of {len(whole)} (R@10 {recall}){cut} |"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of sets (docs/bench.md)")
    parser.add_argument("--sets", default="locomo,hotpotqa", help="separated by commas")
    parser.add_argument("--parts", default=",".join(_PARTS), help="separated by commas")
    parser.add_argument("--questions", type=int, default=500, help="of all sets together, from the first on")
    parser.add_argument("--others", type=int, default=50_000, help="items beside")
    parser.add_argument("--contexts", type=int, default=200, help="contexts of the items beside")
    parser.add_argument("--beside-sets", default="locomo", help="the sets that are asked beside others")
    parser.add_argument("--store", type=Path, help="folder of filled stores, reused by the next run")
    options = parser.parse_args()
    if unknown := sorted(set(options.parts.split(",")) - set(_PARTS)):
        parser.error(f"--parts: {', '.join(unknown)} is none of {', '.join(_PARTS)}")
    configure_logs(LogSettings(level="warning"))
    chosen = [load_set(path) for path in find_sets(options.data, options.sets.split(","))]
    print("| what | found |\n|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        bench = Bench(read_settings(), options.store or Path(folder), Path(folder))
        for part in options.parts.split(","):
            left = options.questions
            for data in [] if part == "beside" else chosen:
                asked = replace(data, questions=data.questions[:left])
                left -= len(asked.questions)
                print(*await (restart if part == "restart" else changes)(bench, asked), sep="\n", flush=True)
            for name in options.beside_sets.split(",") if part == "beside" else []:
                (path,) = find_sets(options.data, [name])
                others = [load_set(other) for other in find_sets(options.data) if other != path]
                rows = await beside(bench, load_set(path), others, options.others, options.contexts)
                print(*rows, sep="\n", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
