"""``python tests/bench/minilm.py --data FOLDER``: the default model in both formats, beside its published weights.

FOLDER has ``items.jsonl.gz`` and ``queries.jsonl.gz``. Prints for each format: the cosine of its vectors to those of
the published float weights, the share of relevant items among the ten nearest to a query (its own context only), and
the processor time of a text and of a query. The vectors are those of the bare texts, not of the product's wrapper.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from support.models import minilm_gguf
from support.models.reference_bert import ReferenceBert
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models.model_files import resolve
from vicw_shared.embedding_models import DEFAULT_MODEL
from vicw_shared.ports.embedder import Lane
from vicw_shared.settings.concerns import EmbeddingSettings

_QUERIES_TIMED = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--compared", type=int, default=300, help="texts compared with the published weights")
    options = parser.parse_args()
    items, queries = (_read(options.data / f"{name}.jsonl.gz") for name in ("items", "queries"))
    reference = ReferenceBert(minilm_gguf.source_dir())
    step = max(1, len(items) // options.compared)
    published = np.stack([reference.embed(item["text"]) for item in items[::step]])
    with tempfile.TemporaryDirectory() as folder:
        for model in (DEFAULT_MODEL, str(minilm_gguf.ensure(Path(folder)))):
            file = resolve(EmbeddingSettings(model=model), Path(folder))
            engine = Engine(file, EngineOptions())
            try:
                _measure(str(file.card.format), engine, items, queries, published, step)
            finally:
                engine.close()


def _measure(
    name: str,
    engine: Engine,
    items: list[dict[str, Any]],
    queries: list[dict[str, Any]],
    published: NDArray[np.float64],
    step: int,
) -> None:
    engine.submit(["warm up"], Lane.BULK).result()
    began = time.process_time()
    stored = engine.submit([item["text"] for item in items], Lane.BULK).result().rows
    text_ms = (time.process_time() - began) / len(items) * 1000
    asked = [query["query"] for query in queries]
    began = time.process_time()
    for text in asked[:_QUERIES_TIMED]:
        engine.submit([text], Lane.QUERY).result()
    query_ms = (time.process_time() - began) / len(asked[:_QUERIES_TIMED]) * 1000
    cosines = (stored[::step] * published).sum(axis=1)
    recall = _recall(items, stored, queries, engine.submit(asked, Lane.BULK).result().rows)
    print(
        f"{name}: cosine to the published weights {cosines.mean():.4f} (lowest {cosines.min():.4f}), "
        f"dense R@10 {recall:.4f}, {text_ms:.1f} ms a text, {query_ms:.1f} ms a query (processor time)",
        flush=True,
    )


def _recall(
    items: list[dict[str, Any]],
    stored: NDArray[np.float32],
    queries: list[dict[str, Any]],
    asked: NDArray[np.float32],
) -> float:
    contexts = np.array([item["context"] for item in items])
    ids = np.array([item["id"] for item in items])
    shares = []
    for query, vector in zip(queries, asked, strict=True):
        inside = np.flatnonzero(contexts == query["context"])
        best = ids[inside[np.argsort(-(stored[inside] @ vector), kind="stable")[:10]]]
        shares.append(len(set(best) & set(query["relevant"])) / len(query["relevant"]))
    return float(np.mean(shares))


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    main()
