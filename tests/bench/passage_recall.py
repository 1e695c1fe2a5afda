"""``python tests/bench/passage_recall.py --data FOLDER SET…``: how well items are found by their passages.

Prints for each set R@10 by vectors, by BM25 and by both, with nothing else of the product in between: an item scores as
its best passage. Run it on two builds to compare how they cut. ``--pool`` takes of each context only the items that
BM25 finds best for its questions, and their evidence.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from support.models.minilm_embedder import MiniLmEmbedder
from vicw_bench.metrics import recall_at
from vicw_bench.sets import Question, Remembered, load_set
from vicw_core.index.sparse import encode_document, encode_query, headed
from vicw_core.index.wrapper import wrap
from vicw_ingest.plan.chunking import split_passages
from vicw_shared.domains import CODING

_DENSE_SHARE = 0.4

type Scores = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chars", type=int, default=1200, help="size of a passage")
    parser.add_argument("--pool", type=int, help="items a question, the best by BM25")
    parser.add_argument("sets", nargs="+")
    options = parser.parse_args()
    embedder = MiniLmEmbedder()
    for name in options.sets:
        loaded = load_set(options.data / name)
        found: dict[str, list[float]] = defaultdict(list)
        passages = 0
        for context in sorted({question.context for question in loaded.questions}):
            items = [one for one in loaded.items if one.context == context]
            questions = [one for one in loaded.questions if one.context == context]
            if options.pool:
                items = _pooled(items, questions, options.pool)
            passages += _measure(embedder, items, questions, options.chars, found)
        figures = " ".join(f"{channel} {np.mean(values):.4f}" for channel, values in found.items())
        print(f"{name}: {passages} passages, R@10 {figures}", flush=True)


def _pooled(items: Sequence[Remembered], questions: Sequence[Question], pool: int) -> list[Remembered]:
    kept = {uid for question in questions for uid in question.relevant}
    for scores in _bm25([_headed(one, one.item.text) for one in items], questions):
        kept |= {items[at].item.id or "" for at in np.argsort(-scores)[:pool]}
    return [one for one in items if one.item.id in kept]


def _measure(
    embedder: MiniLmEmbedder,
    items: Sequence[Remembered],
    questions: Sequence[Question],
    chars: int,
    found: dict[str, list[float]],
) -> int:
    cut = [
        (at, passage)
        for at, one in enumerate(items)
        for passage in split_passages(one.item.text, size=chars, code=one.domain == CODING)
    ]
    owners = np.array([at for at, _ in cut])
    vectors = np.stack([embedder.vector(_wrapped(items[at], passage)) for at, passage in cut])
    lexical = _bm25([_headed(items[at], passage) for at, passage in cut], questions)
    for question, words in zip(questions, lexical, strict=True):
        dense: Scores = (vectors @ embedder.vector(wrap(question.query, domain=question.domain))).astype(np.float64)
        both = _DENSE_SHARE * dense / dense.max() + (1 - _DENSE_SHARE) * words / max(words.max(), 1e-9)
        for channel, scores in (("dense", dense), ("bm25", words), ("both", both)):
            best = np.full(len(items), -np.inf)
            np.maximum.at(best, owners, scores)
            ids = [items[at].item.id or "" for at in np.argsort(-best, kind="stable")[:10]]
            found[channel].append(recall_at(10, ids, question.relevant))
    return len(cut)


def _bm25(texts: Sequence[str], questions: Sequence[Question]) -> list[Scores]:
    documents = [dict(zip(one.indices, one.values, strict=True)) for one in map(encode_document, texts)]
    counts = Counter(term for document in documents for term in document)
    idf = {term: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
    return [
        np.array([sum(idf[term] * one[term] for term in terms if term in one) for one in documents])
        for terms in (encode_query(question.query).indices for question in questions)
    ]


def _headed(one: Remembered, text: str) -> str:
    return headed(one.item.name or one.item.speaker, text)


def _wrapped(one: Remembered, passage: str) -> str:
    item = one.item
    plain = "message" if item.speaker else "event" if item.timestamp or item.flow_id else "document"
    return wrap(passage, domain=one.domain, subtype=item.subtype or plain, name=item.name or item.speaker)


if __name__ == "__main__":
    main()
