"""``python tests/bench/wrapper_recall.py --data FOLDER``: what the contextual wrapper gains and costs.

FOLDER holds sets (docs/bench.md). Passages and statements are those that VICW's own write path makes of the items;
their vectors are computed here with the default model, in each form (``FORMS``), and compared with the question in each
wording (``QUESTIONS``). For vectors alone it prints R@5/R@10 inside the question's context, and over all sets in one
pool, asked without context and domain, with the share of results of another domain there. ``--hybrid FORM/WORDING,…``
asks the whole read path instead, over stores filled with vectors of that form.

Vectors and stores are kept in ``--work`` for the next run; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from numpy.typing import NDArray

from bench.wrapper_forms import FORMS, QUESTIONS, FormEmbedder, Text, VectorCache, Vectors, forms_of
from vicw_bench.fidelity.measure import AS_SET, DENSE, ask_all, ensure_filled
from vicw_bench.metrics import recall_at, score
from vicw_bench.runs import default_store
from vicw_bench.sets import FidelitySet, Question, Remembered, find_sets, load_set
from vicw_bench.targets import open_local
from vicw_core.index.points import wrapped
from vicw_core.index.wrapper import wrap
from vicw_runtime.logs import configure_logs
from vicw_shared.domains import canonical
from vicw_shared.ports import Passages, PendingPoint, scan_pages
from vicw_shared.settings import LogSettings
from vicw_standalone.settings import StandaloneSettings, read_settings

K = 10
_COMPARED = 100


class ItemKey(NamedTuple):
    """What tells an item from all others of the sets."""

    context: str
    id: str
    domain: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts of items: passages first, then statements.

    Text i belongs to passage ``passage[i]``, passage p to item ``item[p]``.
    """

    texts: list[Text]
    passage: NDArray[np.int64]
    item: NDArray[np.int64]
    items: list[ItemKey]

    @property
    def contexts(self) -> NDArray[np.str_]:
        return np.array([item.context for item in self.items])

    def best(self, vectors: Vectors, asked: Vectors, inside: NDArray[np.bool_]) -> list[list[ItemKey]]:
        """Return the first ``K`` items among those ``inside`` for each question, scored as the dense channel does.

        A passage scores the mean of its own cosine and its best statement's, an item as its best passage.
        """
        passages = len(self.item)
        cosines = vectors @ asked.T
        own, statements = cosines[:passages], np.full((passages, len(asked)), -2.0, np.float32)
        np.maximum.at(statements, self.passage[passages:], cosines[passages:])
        scores = np.full((len(self.items), len(asked)), -2.0, np.float32)
        np.maximum.at(scores, self.item, np.where(statements > -2.0, (own + statements) / 2, own))
        scores[~inside] = -3.0
        order = np.argsort(-scores, axis=0, kind="stable")[:K]
        return [[self.items[number] for number in column if inside[number]] for column in order.T]


async def read_corpus(settings: StandaloneSettings, data: FidelitySet, store: Path) -> Corpus:
    """Have the product store a set without vectors, and return the texts that it would embed."""
    storage = settings.storage.model_copy(update={"embedder": "none"})
    async with open_local(replace(settings, storage=storage), store) as target:
        await ensure_filled(target, data, store, show)
        points = [point async for page in scan_pages(target.graph, Passages()) for point in page]
    keys = [_key(point) for point in points]
    items = list(dict.fromkeys(keys))
    numbers = {item: number for number, item in enumerate(items)}
    statements = [(number, part) for number, point in enumerate(points) for part in point.parts[1:]]
    return Corpus(
        texts=[Text.unwrap(wrapped(part)) for part in [*points, *(part for _, part in statements)]],
        passage=np.array([*range(len(points)), *(number for number, _ in statements)]),
        item=np.array([numbers[key] for key in keys]),
        items=items,
    )


def _key(point: PendingPoint) -> ItemKey:
    assert point.item is not None
    return ItemKey(point.item.context or "", point.item.source_id or "", point.item.domain or "")


def sampled(data: FidelitySet, contexts: int, items: int) -> FidelitySet:
    """Return the set with its first ``contexts`` contexts that have questions, and about ``items`` items of each.

    All evidence is kept; of the other items every so many.
    """
    asked = list(dict.fromkeys(question.context for question in data.questions))[:contexts]
    questions = tuple(question for question in data.questions if question.context in asked)
    evidence = {(question.context, one) for question in questions for one in question.relevant}
    kept: list[Remembered] = []
    for context in asked:
        inside = [entry for entry in data.items if entry.context == context]
        step = max(1, len(inside) // items)
        kept += [e for n, e in enumerate(inside) if n % step == 0 or (context, e.item.id) in evidence]
    if len(kept) == len(data.items):
        return data
    digest = hashlib.sha256(f"{data.digest} {asked} {len(kept)}".encode()).hexdigest()
    return replace(data, items=tuple(kept), questions=questions, digest=digest)


def joined(corpora: Sequence[Corpus]) -> Corpus:
    """Return one corpus of all texts, in the order of ``passages_first``; it holds no texts."""
    before = np.cumsum([0, *(len(one.item) for one in corpora)])
    items = np.cumsum([0, *(len(one.items) for one in corpora)])
    return Corpus(
        texts=[],
        passage=passages_first(corpora, [one.passage + before[number] for number, one in enumerate(corpora)]),
        item=np.concatenate([one.item + items[number] for number, one in enumerate(corpora)]),
        items=[item for one in corpora for item in one.items],
    )


def passages_first[Row: NDArray[Any]](corpora: Sequence[Corpus], rows: Sequence[Row]) -> Row:
    """Return the rows of all texts: first those of passages, corpus by corpus, then those of statements."""
    pairs = list(zip(corpora, rows, strict=True))
    return np.concatenate([own[: len(one.item)] for one, own in pairs] + [own[len(one.item) :] for one, own in pairs])  # type: ignore[return-value]


class Found(NamedTuple):
    """Means over questions, in [0, 1]: recall, and the share of results of another domain than the question's."""

    at_5: float
    at_10: float
    foreign: float


def _score(questions: Sequence[Question], results: Sequence[Sequence[ItemKey]]) -> Found:
    rows = []
    for question, found in zip(questions, results, strict=True):
        ids = [item.id if item.context == question.context else "" for item in found]
        foreign = np.mean([item.domain != canonical(question.domain or "") for item in found])
        rows.append((recall_at(5, ids, question.relevant), recall_at(K, ids, question.relevant), foreign))
    return Found(*np.mean(rows, axis=0))


def _asked(cache: VectorCache, questions: Sequence[Question], wording: str) -> Vectors:
    texts = [Text(q.query, canonical(q.domain) if q.domain else None) for q in questions]
    return cache.mixed(texts, QUESTIONS[wording])


def find_dense(data: FidelitySet, corpus: Corpus, vectors: Vectors, cache: VectorCache, wording: str) -> Found:
    """Ask each question inside its context."""
    asked, contexts = _asked(cache, data.questions, wording), corpus.contexts
    results: list[list[ItemKey]] = []
    for context, group in itertools.groupby(zip(data.questions, asked, strict=True), lambda pair: pair[0].context):
        rows = np.stack([row for _, row in group])
        results += corpus.best(vectors, rows, contexts == context)
    return _score(data.questions, results)


def find_pooled(sets: Sequence[FidelitySet], pool: Corpus, vectors: Vectors, cache: VectorCache, wording: str) -> Found:
    """Ask each question in all sets at once, without its context."""
    questions = [question for data in sets for question in data.questions]
    everywhere = np.ones(len(pool.items), np.bool_)
    asked = _asked(cache, questions, wording)
    results: list[list[ItemKey]] = []
    for start in range(0, len(asked), 64):
        results += pool.best(vectors, asked[start : start + 64], everywhere)
    return _score(questions, results)


def _vectors(corpus: Corpus, cache: VectorCache, form: str) -> Vectors:
    count = len(corpus.item)
    parts = zip((corpus.texts[:count], corpus.texts[count:]), forms_of(form), strict=True)
    return np.concatenate([cache.mixed(texts, one) for texts, one in parts if texts])


def measure_dense(
    sets: Sequence[FidelitySet], corpora: Sequence[Corpus], cache: VectorCache, forms: Sequence[str]
) -> None:
    """Print what vectors alone find, by form and wording: each set, their mean, and all in one pool."""
    names = [*(data.name for data in sets), "mean", "pool", "foreign"]
    print(f"{'form':22}{'question':9}" + "".join(f"{name[:12]:>14}" for name in names))
    pool = joined(corpora)
    for form in forms:
        vectors = [_vectors(corpus, cache, form) for corpus in corpora]
        together = passages_first(corpora, vectors)
        for wording in QUESTIONS:
            found = [
                find_dense(data, corpus, rows, cache, wording)
                for data, corpus, rows in zip(sets, corpora, vectors, strict=True)
            ]
            wide = find_pooled(sets, pool, together, cache, wording)
            means = Found(*np.mean(found, axis=0))
            cells = [f"{one[0]:.3f}/{one[1]:.3f}" for one in [*found, means, wide]] + [f"{wide.foreign:.4f}"]
            print(f"{form:22}{wording:9}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


async def measure_hybrid(
    settings: StandaloneSettings, sets: Sequence[FidelitySet], cache: VectorCache, pairs: Sequence[str], folder: Path
) -> None:
    """Print what the whole read path finds over stores of each form, and its dense channel alone: R@5 and R@10."""
    for data in sets:
        corpus = await read_corpus(settings, data, folder / store_name(data))
        passages = frozenset(corpus.texts[: len(corpus.item)])
        for pair in pairs:
            form, _, wording = pair.partition("/")
            embedder = FormEmbedder(cache, form, wording or "domain", passages)
            store = folder / f"{store_name(data)}-{form}"
            async with open_local(settings, store, embedder) as target:
                await ensure_filled(target, data, store, show)
                found = [score(await ask_all(target, data, variant, show)) for variant in (DENSE, AS_SET)]
            cells = [f"{one.recall_at_5:.4f}/{one.recall_at_10:.4f}" for one in found]
            print(f"{data.name:16}{pair:26}dense {cells[0]}   as set {cells[1]}", flush=True)


def measure_angles(corpora: Sequence[Corpus], cache: VectorCache) -> None:
    """Print what the wrapper does to cosines: of one text under two domains, and of unrelated texts under one head."""
    texts = [text.text for corpus in corpora for text in corpus.texts[:: len(corpus.texts) // _COMPARED + 1]]

    def under(domain: str | None) -> Vectors:
        return cache.rows([wrap(text, domain=domain, subtype=domain and "note") for text in texts])

    plain, coding, creative = under(None), under("coding"), under("creative")
    other = np.roll(np.arange(len(texts)), len(texts) // 2)  # a text of another set, where there are several
    print(
        f"cosine of a text under two domains {(coding * creative).sum(axis=1).mean():.2f}; of two unrelated texts "
        f"plain {(plain * plain[other]).sum(axis=1).mean():.2f}, "
        f"under one domain {(coding * coding[other]).sum(axis=1).mean():.2f}, "
        f"under two {(coding * creative[other]).sum(axis=1).mean():.2f}"
    )


def store_name(data: FidelitySet) -> str:
    return f"{data.name}-{data.digest[:8]}"


def show(step: str, done: int, total: int) -> None:
    """Print progress to standard error."""
    if done == total or done % 100 == 0:
        print(f"\r{step} {done} of {total}   ", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of sets")
    parser.add_argument("--sets", help="only these, separated by commas")
    parser.add_argument("--contexts", type=int, default=1000, help="at most so many contexts of a set")
    parser.add_argument("--items", type=int, default=10_000_000, help="about so many items of a context")
    parser.add_argument("--forms", default=",".join([*FORMS, "full | name"]), help="separated by commas")
    parser.add_argument(
        "--hybrid", help="FORM/WORDING pairs to ask the whole read path with instead, separated by commas"
    )
    parser.add_argument("--work", type=Path, default=default_store() / "wrapper", help="folder of vectors and stores")
    parser.add_argument("--threads", type=int, default=0, help="threads that embed (0: all cores)")
    options = parser.parse_args()
    configure_logs(LogSettings(level="warning"))
    options.work.mkdir(parents=True, exist_ok=True)
    names = options.sets.split(",") if options.sets else None
    sets = [sampled(load_set(path), options.contexts, options.items) for path in find_sets(options.data, names)]
    settings, cache = read_settings(), VectorCache(options.work, options.threads)
    try:
        if options.hybrid:
            asyncio.run(measure_hybrid(settings, sets, cache, options.hybrid.split(","), options.work))
            return
        stores = [options.work / store_name(data) for data in sets]
        corpora = [asyncio.run(read_corpus(settings, *one)) for one in zip(sets, stores, strict=True)]
        for data, corpus in zip(sets, corpora, strict=True):
            print(
                f"{data.name}: {len(corpus.item)} passages, {len(corpus.texts) - len(corpus.item)} statements, "
                f"{sum(len(text.text) for text in corpus.texts):,} characters"
            )
        measure_angles(corpora, cache)
        measure_dense(sets, corpora, cache, options.forms.split(","))
    finally:
        cache.close()


if __name__ == "__main__":
    main()
