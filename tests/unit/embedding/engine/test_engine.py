"""Both lanes on the real engines."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vicw_embedding.engine import windows
from vicw_embedding.engine.engine import Engine, EngineOptions, usable_cores
from vicw_embedding.engine.llama import LlamaContext
from vicw_embedding.engine.loader import load
from vicw_embedding.engine.onnx import OnnxContext
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.embedding_models import ModelFormat
from vicw_shared.errors import LimitExceededError, OverloadedError, SettingsError, UnavailableError
from vicw_shared.ports.embedder import Lane

SENTENCE = "the build broke because of the token and the user query "


def context_of(engine: Engine) -> type[LlamaContext | OnnxContext]:
    return LlamaContext if engine.file.card.format is ModelFormat.GGUF else OnnxContext


def watch(engine: Engine, monkeypatch: pytest.MonkeyPatch, see: Callable[[list[list[int]]], None]) -> None:
    """Call ``see`` with the sequences of each batch."""
    kind = context_of(engine)
    embed = kind.embed

    def watching(self: LlamaContext | OnnxContext, sequences: list[list[int]]) -> object:
        see(sequences)
        return embed(self, sequences)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "embed", watching)


def test_vectors_are_units_in_the_order_of_the_texts(engine: Engine) -> None:
    texts = [f"river {number} stone" for number in range(150)]

    embedded = engine.submit(texts, Lane.BULK).result()

    assert embedded.rows.shape == (150, 1024)
    assert embedded.rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(embedded.rows, axis=1), 1, rtol=1e-5)
    one = engine.submit([texts[77]], Lane.QUERY).result().rows[0]
    assert int(np.argmax(embedded.rows @ one)) == 77


@pytest.mark.parametrize(("told", "cores"), [("max 100000", 4), ("200000 100000", 2), ("50000 100000", 1), ("", 4)])
def test_usable_cores_respects_the_container_cpu_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str, cores: int
) -> None:
    (tmp_path / "cpu.max").write_text(told)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {*range(4)}, raising=False)
    assert usable_cores(tmp_path / "cpu.max") == cores


def test_no_texts_give_an_empty_array_of_the_models_size(engine: Engine) -> None:
    embedded = engine.submit([], Lane.BULK).result(timeout=1)

    assert (embedded.rows.shape, embedded.tokens) == ((0, 1024), 0)


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "\u202e\U0001f9ff"])
def test_blank_and_invalid_texts_have_a_unit_vector(engine: Engine, text: str) -> None:
    row = engine.submit([text], Lane.QUERY).result().rows[0]

    assert np.linalg.norm(row) == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize(("lane", "longest"), [(Lane.QUERY, 256), (Lane.BULK, 512)])
def test_an_overlong_text_is_embedded_in_framed_windows(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, lane: Lane, longest: int
) -> None:
    seen: list[list[int]] = []
    watch(engine, monkeypatch, seen.extend)
    embedded = engine.submit([SENTENCE * 120], lane).result()

    assert len(seen) > 2
    assert max(map(len, seen)) > longest / 2
    assert all(window[0] == 0 and window[-1] == 2 for window in seen), "each keeps <s> and </s>"
    assert all(len(window) <= longest for window in seen)
    assert embedded.tokens == sum(map(len, seen))


def test_the_vector_of_an_over_long_text_is_the_mean_of_its_windows(minilm: Engine) -> None:
    model = load(minilm.file)
    text = "Ana rolled the deployment back. " * 200
    parts = windows.cut(model.tokenize(text), model.frame, minilm.file.card.max_tokens)
    context = model.open_context(minilm.file.card.pooling, threads=2, batch_tokens=512)
    expected = windows.join(np.concatenate([context.embed([part]) for part in parts]))
    context.close()
    model.close()

    row = minilm.submit([text], Lane.BULK).result().rows[0]

    assert len(parts) > 3
    assert float(row @ expected) == pytest.approx(1, abs=1e-4)


def test_texts_of_many_requests_share_a_batch(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    watch(engine, monkeypatch, lambda sequences: sizes.append(len(sequences)))
    first = engine.submit([SENTENCE * 20], Lane.BULK)
    others = [engine.submit(["river stone"], Lane.BULK) for _ in range(40)]

    assert all(other.result().rows.shape == (1, 1024) for other in [first, *others])
    assert max(sizes) > 10


def test_both_lanes_serve_many_concurrent_callers_correctly(engine: Engine) -> None:
    expected = engine.submit(["memory of time"], Lane.QUERY).result().rows[0]

    def call(number: int) -> float:
        lane = Lane.QUERY if number % 2 else Lane.BULK
        texts = ["light " * (number % 30 + 1), "memory of time", SENTENCE * (number % 12)]
        return float(engine.submit(texts, lane).result().rows[1] @ expected)

    with ThreadPoolExecutor(16) as pool:
        assert min(pool.map(call, range(200))) == pytest.approx(1, abs=1e-4)


def test_a_query_is_not_delayed_by_the_bulk_queue(minilm: Engine) -> None:
    bulk = minilm.submit([SENTENCE * 8] * 400, Lane.BULK)
    time.sleep(0.2)
    started = time.perf_counter()
    for _ in range(5):
        minilm.submit(["why did the build break?"], Lane.QUERY).result()
    taken = (time.perf_counter() - started) / 5

    assert not bulk.done(), "the bulk queue must outlast the queries, or this proves nothing"
    bulk.cancel()
    assert taken < 1.0


def test_the_bulk_lane_runs_at_a_lower_priority(engine: Engine) -> None:
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    nice = {
        thread.name: os.getpriority(os.PRIO_PROCESS, thread.native_id or 0)
        for thread in threading.enumerate()
        if thread.name.startswith("lane-")
    }

    assert nice == {"lane-query": mine, "lane-bulk": min(mine + 10, 19)}


def test_lanes_run_where_threads_have_no_priority(encoder_file: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getpriority")
    engine = Engine(encoder_file, EngineOptions())
    rows = engine.submit(["river"], Lane.BULK).result().rows
    engine.close()
    assert rows.shape == (1, 1024)


def test_a_full_queue_refuses_and_recovers(engine: Engine) -> None:
    with pytest.raises(LimitExceededError, match="VICW_EMBEDDING_QUEUE_TEXTS"):
        engine.submit(["a"] * 3001, Lane.BULK)
    held = engine.submit([SENTENCE * 10] * 2999, Lane.BULK)
    with pytest.raises(OverloadedError, match="bulk"):
        engine.submit(["a", "b"], Lane.BULK)
    assert engine.submit(["a"], Lane.QUERY).result().rows.shape == (1, 1024), "the other lane has room"

    assert held.cancel()
    assert engine.waiting(Lane.BULK) == 0
    assert engine.submit(["a", "b"], Lane.BULK).result(timeout=20).rows.shape == (2, 1024)


def test_a_cancelled_request_leaves_the_others_alone(engine: Engine) -> None:
    futures = [engine.submit([SENTENCE] * 20, Lane.BULK) for _ in range(20)]
    for future in futures[::2]:
        future.cancel()

    assert all(future.result().rows.shape == (20, 1024) for future in futures[1::2])
    with pytest.raises(CancelledError):
        futures[18].result()


def test_a_failed_batch_is_reported_and_the_lane_continues(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(context_of(engine), "embed", lambda self, batch: np.full((len(batch), 1024), np.nan, np.float32))
        with pytest.raises(UnavailableError, match="not finite"):
            engine.submit(["a"], Lane.QUERY).result()

    assert engine.submit(["a"], Lane.QUERY).result().rows.shape == (1, 1024)


def test_closing_fails_waiting_requests_and_refuses_new_ones(encoder_file: ModelFile) -> None:
    engine = Engine(encoder_file, EngineOptions())
    waiting = engine.submit([SENTENCE * 10] * 2000, Lane.BULK)

    engine.close()
    engine.close()

    assert not engine.alive
    with pytest.raises(UnavailableError):
        waiting.result(timeout=1)
    with pytest.raises(UnavailableError):
        engine.submit(["a"], Lane.QUERY)


def test_a_card_that_does_not_fit_the_file_is_refused(encoder_file: ModelFile) -> None:
    wrong = replace(encoder_file, card=replace(encoder_file.card, size=384))

    with pytest.raises(SettingsError, match="1024 dimensions"):
        Engine(wrong, EngineOptions())


def test_an_error_while_starting_a_lane_is_raised(encoder_file: ModelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpriority", lambda *_: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        Engine(encoder_file, EngineOptions())


def test_a_decoder_model_embeds_alike_alone_and_in_a_batch(decoder_file: ModelFile) -> None:
    engine = Engine(decoder_file, EngineOptions())
    together = engine.submit(["river stone", SENTENCE * 30, "time"], Lane.BULK).result().rows
    alone = engine.submit(["time"], Lane.BULK).result().rows[0]
    engine.close()

    assert float(together[2] @ alone) == pytest.approx(1, abs=1e-3)
