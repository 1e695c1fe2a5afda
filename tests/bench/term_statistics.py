"""``python tests/bench/term_statistics.py --data DIR``: what is found in contexts alone, and beside other contexts.

Fills a store with a set, or takes a filled one (``vicw bench fidelity``), and asks its questions three times: alone;
with the texts of the other sets in other contexts of the tenant; and weighed by the whole collection, as no store does
any more. Others' vectors cannot change an answer in a context, only their words could: so only these are added, to the
counts.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from vicw_bench.fidelity.measure import AS_SET, BM25, ask_all, ensure_filled
from vicw_bench.metrics import score
from vicw_bench.sets import FidelitySet, find_sets, load_set
from vicw_bench.targets import LocalTarget, open_local, store_key
from vicw_core.index import term_weights
from vicw_core.index.conversion import WordConversion
from vicw_core.index.sparse import encode_document
from vicw_runtime.logs import configure_logs
from vicw_shared.ports import TermCounts, TermFrequencies
from vicw_shared.settings import LogSettings
from vicw_shared.wire.ingest import Extract
from vicw_standalone.settings import read_settings


class Beside:
    """The statistics of a store with ``others``; ``pooled``: they weigh every question, as do all contexts."""

    def __init__(self, graph: Any, others: TermCounts, *, pooled: bool = False) -> None:
        self._read = graph.frequencies
        self._others = others
        self._pooled = pooled

    async def __call__(self, tenant: str, contexts: Sequence[str] | None, terms: Sequence[int]) -> TermFrequencies:
        own = await self._read(tenant, contexts, terms)
        others = self._others.counts
        counts = {term: own.tenant.counts.get(term, 0) + others.get(term, 0) for term in terms}
        tenant_counts = TermCounts(own.tenant.passages + self._others.passages, counts)
        return TermFrequencies(tenant_counts if self._pooled else own.asked, tenant_counts)


def counts_of(sets: Sequence[FidelitySet], most: int) -> TermCounts:
    """Count the terms of the sets' texts."""
    counts: Counter[int] = Counter()
    passages = 0
    for entry in islice((entry for one in sets for entry in one.items), most):
        counts.update(encode_document(entry.item.text).indices)
        passages += 1
    return TermCounts(passages, counts)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of sets (docs/bench.md)")
    parser.add_argument("--sets", default="locomo", help="separated by commas")
    parser.add_argument("--store", type=Path, help="folder of filled stores")
    parser.add_argument("--others", type=int, default=50_000, help="texts beside the set's")
    parser.add_argument("--questions", type=int, default=100_000, help="of each set, evenly chosen")
    parser.add_argument("--priors", default=str(term_weights.PRIOR), help="values of PRIOR, separated by commas")
    parser.add_argument("--bm25", action="store_true", help="ask BM25 alone, too")
    options = parser.parse_args()
    configure_logs(LogSettings(level="warning"))
    settings = read_settings()
    with tempfile.TemporaryDirectory(prefix="vicw-bench-") as folder:
        for name in options.sets.split(","):
            (path,) = find_sets(options.data, [name])
            data = load_set(path)
            store = (options.store or Path(folder)) / f"{name}-{store_key(settings, data.digest, Extract.AUTO)}"
            others = counts_of([load_set(o) for o in find_sets(options.data) if o != path], options.others)
            step = max(1, len(data.questions) // options.questions)
            async with open_local(settings, store) as target:
                await ensure_filled(target, data, store, lambda *_: None)
                await brought_up_to_date(target)
                sample = replace(data, questions=data.questions[::step])
                await compare(target, sample, others, list(map(int, options.priors.split(","))), bm25=options.bm25)


async def brought_up_to_date(target: LocalTarget) -> None:
    standalone = target._standalone
    indexes = standalone.indexes
    await WordConversion(standalone.graph, indexes.open_vectors, indexes.refresh).run()
    await standalone.folders.renew()
    await target.drain()


async def compare(
    target: LocalTarget, data: FidelitySet, others: TermCounts, priors: Sequence[int], *, bm25: bool
) -> None:
    graph: Any = target._standalone.graph
    alone = graph.frequencies
    ways = [(f"alone, prior {prior}", prior, alone) for prior in priors]
    ways += [(f"beside, prior {prior}", prior, Beside(graph, others)) for prior in priors]
    ways += [
        ("alone, pooled", 0, Beside(graph, TermCounts(), pooled=True)),
        ("beside, pooled", 0, Beside(graph, others, pooled=True)),
    ]
    print(f"{data.name}: {len(data.questions)} questions, {others.passages} other texts", flush=True)
    for label, prior, frequencies in ways:
        term_weights.PRIOR = prior
        graph.frequencies = frequencies
        for variant in (AS_SET, *([BM25] if bm25 else [])):
            found = score(await ask_all(target, data, variant, lambda *_: None))
            print(
                f"  {label:22} {variant.name:7} R@5 {found.recall_at_5:.4f} R@10 {found.recall_at_10:.4f}", flush=True
            )
    graph.frequencies = alone


if __name__ == "__main__":
    asyncio.run(main())
