"""What only ONNX models have: their own tokenizers, inputs and outputs, padding, and files that do not fit together."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.models import minilm_gguf, tiny_onnx
from support.models.reference_bert import ReferenceBert
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.engine.loader import load
from vicw_embedding.engine.onnx import OnnxContext, OnnxModel
from vicw_embedding.engine.windows import normalise
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.embedding_models import Pooling
from vicw_shared.errors import SettingsError
from vicw_shared.ports.embedder import Lane


def embedded(file: ModelFile, *texts: str) -> np.ndarray:
    engine = Engine(file, EngineOptions(threads=1))
    try:
        return engine.submit(texts, Lane.BULK).result().rows
    finally:
        engine.close()


def batches_of(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Return a list that gets the lengths of each batch."""
    batches: list[list[int]] = []
    embed = OnnxContext.embed

    def watching(self: OnnxContext, sequences: list[list[int]]) -> object:
        batches.append([len(sequence) for sequence in sequences])
        return embed(self, sequences)

    monkeypatch.setattr(OnnxContext, "embed", watching)
    return batches


def test_a_text_has_the_same_vector_beside_any_other(minilm_onnx: ModelFile) -> None:
    model = load(minilm_onnx)
    context = model.open_context(Pooling.MEAN, threads=1, batch_tokens=4096)
    sequences = [model.frame.around(model.tokenize("the build broke " * n)) for n in (1, 2, 5, 20, 60)]

    together = normalise(context.embed(sequences))
    alone = normalise(np.concatenate([context.embed([sequence]) for sequence in sequences]))

    assert float((together * alone).sum(axis=1).min()) > 1 - 1e-6


@pytest.mark.parametrize("pooling", Pooling)
def test_each_pooling_takes_its_tokens(tmp_path: Path, pooling: Pooling) -> None:
    file = tiny_onnx.write(tmp_path / "m", pooling)
    model = load(file)
    assert isinstance(model, OnnxModel)
    sequences = [[0, 20, 30, 2], [0, 20, 2]]
    states = [
        model._session.run(None, {"input_ids": [one], "attention_mask": [[1] * len(one)]})[0][0] for one in sequences
    ]
    at = {Pooling.MEAN: slice(None), Pooling.CLS: slice(0, 1), Pooling.LAST: slice(-1, None)}[pooling]

    rows = model.open_context(pooling, threads=1, batch_tokens=99).embed(sequences)

    np.testing.assert_allclose(rows, [each[at].mean(axis=0) for each in states], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    "inputs",
    [("input_ids", "attention_mask", "token_type_ids"), ("input_ids", "attention_mask", "position_ids")],
)
def test_a_model_gets_the_inputs_that_it_names(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    expected = embedded(tiny_onnx.write(tmp_path / "two"), "river stone")
    np.testing.assert_allclose(embedded(tiny_onnx.write(tmp_path / "three", inputs=inputs), "river stone"), expected)


def test_a_model_that_pools_is_taken_at_its_word(tmp_path: Path) -> None:
    file = tiny_onnx.write(tmp_path / "m", output="sentence_embedding", pooled=True)
    by_tokens = embedded(tiny_onnx.write(tmp_path / "tokens", Pooling.CLS), "river stone", "time")
    np.testing.assert_allclose(embedded(file, "river stone", "time"), by_tokens, rtol=1e-4, atol=1e-6)


def test_a_model_whose_integers_depend_on_the_batch_reads_texts_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tiny_onnx.write(tmp_path / "m", quantised=True)
    batches = batches_of(monkeypatch)

    together = embedded(file, "river stone", "time " * 30, "memory")
    alone = np.concatenate([embedded(file, text) for text in ("river stone", "time " * 30, "memory")])

    assert {len(batch) for batch in batches} == {1}
    np.testing.assert_array_equal(together, alone)


def test_texts_of_about_one_length_share_a_batch_and_little_is_padded(
    tiny_onnx_encoder: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = batches_of(monkeypatch)
    lengths = [5, 90, 10, 45, 100, 7, 50, 60, 12, 95] * 6
    embedded(tiny_onnx_encoder, *[" ".join(["river"] * length) for length in lengths])

    read = sum(sum(batch) for batch in batches)
    computed = sum(len(batch) * max(batch) for batch in batches)
    assert read == sum(lengths) + 2 * len(lengths)
    assert computed < 1.2 * read
    assert max(len(batch) * max(batch) for batch in batches) <= 512
    assert len(batches) < len(lengths) / 3


def test_a_text_shares_a_batch_only_where_that_makes_tokens_cheaper(
    tiny_onnx_encoder: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches = batches_of(monkeypatch)
    embedded(tiny_onnx_encoder, *[" ".join(["river"] * length) for length in (10, 24, 12, 10)])

    # With the call's 16: (16 + 3 * 14) / 38 = 1.5 a token, but (16 + 4 * 26) / 64 = 1.9 with the fourth.
    assert sorted(sorted(batch) for batch in batches) == [[12, 12, 14], [26]]


def test_a_session_starts_no_threads_of_its_own(tiny_onnx_encoder: ModelFile) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from vicw_embedding.engine.onnx import OnnxModel\n"
        "from vicw_shared.embedding_models import Pooling\n"
        "path = Path(sys.argv[1])\n"
        "import onnxruntime\n"
        "before = os.listdir('/proc/self/task')\n"
        "model = OnnxModel(path, path.with_name('tokenizer.json'), 512)\n"
        "model.open_context(Pooling.CLS, threads=1, batch_tokens=512).embed([[5] * 512])\n"
        "print(os.listdir('/proc/self/task') == before)\n"
        "assert 'llama_cpp' not in sys.modules\n"
    )
    command = [sys.executable, "-c", script, str(tiny_onnx_encoder.path)]
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("True\n", "")


def refused(file: ModelFile) -> str:
    with pytest.raises(SettingsError) as refusal:
        Engine(file, EngineOptions(threads=1))
    return refusal.value.detail


def test_a_cut_model_file_is_refused(tmp_path: Path) -> None:
    file = tiny_onnx.write(tmp_path / "m")
    for part in (0, 1, 100, file.path.stat().st_size // 2):
        file.path.write_bytes(file.path.read_bytes()[:part])
        assert f"{file.path} is no ONNX model that onnxruntime can load: fetch it again" in refused(file)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"inputs": ("input_ids", "attention_mask", "pixel_values")}, "takes input_ids, attention_mask, pixel_values"),
        ({"inputs": ("input_ids", "attention_mask", "past_key_values.0.key")}, "past_key_values.0.key: not a text"),
        ({"output": "logits"}, "gives logits: not a text embedding model, which gives last_hidden_state or sentence"),
        ({"pooled": True, "output": "pooler_output"}, "gives pooler_output: not a text embedding model"),
        ({"positions": 128}, "cannot read 512 tokens at once"),
        ({"vocabulary": 20}, "knows fewer tokens than the"),
        ({"vocabulary": 3000}, "knows more tokens than the"),
    ],
)
def test_a_model_of_another_kind_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    file = tiny_onnx.write(tmp_path / "m", **changes)
    message = refused(file)
    assert message.startswith(str(file.path))
    assert problem in message


def test_a_model_without_its_tokenizer_is_refused(tmp_path: Path) -> None:
    file = tiny_onnx.write(tmp_path / "m")
    tokenizer = tmp_path / "m" / "tokenizer.json"
    for content in ("", "{", "{}", '{"version": "1.0", "model": {"type": "Nothing"}}'):
        tokenizer.write_text(content)
        assert refused(file).startswith(f"{tokenizer} is damaged, fetch it again")
    tokenizer.unlink()
    assert refused(file).startswith(f"{tokenizer} is missing: an ONNX model needs its tokenizer")


def test_vectors_of_another_size_than_the_cards_are_refused(tmp_path: Path) -> None:
    file = tiny_onnx.write(tmp_path / "m")
    wrong = replace(file, card=replace(file.card, size=384))
    assert "has vectors of 1024 dimensions, but m has 384" in refused(wrong)


def test_vectors_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    file = tiny_onnx.write(tmp_path / "m", scale=np.inf)
    assert f"{file.path} gives no finite vectors in last_hidden_state" in refused(file)


def test_the_installed_model_multiplies_floats_only(minilm_onnx: ModelFile) -> None:
    """Products of 8 bit integers depend on the processor: without VNNI, sums of two may not fit 16 bits."""
    content = minilm_onnx.path.read_bytes()
    assert not [
        word
        for word in (b"MatMulInteger", b"DynamicQuantize", b"QLinear", b"QGemm", b"QAttention", b"MatMulNBits")
        if word in content
    ]


_MEMORY = """
import re, sys
from pathlib import Path
from vicw_embedding.engine.onnx import OnnxModel
from vicw_shared.embedding_models import Pooling

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) >> 10

path = Path(sys.argv[1])
before = resident()
model = OnnxModel(path, path.with_name("tokenizer.json"), 256)
loaded = resident()
context = model.open_context(Pooling.MEAN, threads=1, batch_tokens=512)
held = []
for number in range(63):
    length = 256 - 4 * (max(0, number - 3) % 30)
    context.embed([[2000 + number] * length] * (512 // length))
    held.append(resident())
print(loaded - before, held[2] - loaded, held[-1] - held[2])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_returned_after_loading_and_stays_flat(minilm_onnx: ModelFile) -> None:
    environment = os.environ | {"MALLOC_ARENA_MAX": "2"}  # as the embedding process has it
    command = [sys.executable, "-c", _MEMORY, str(minilm_onnx.path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    loading, batch, later = map(int, done.stdout.split())

    assert loading < 130, "MiB: the weights, the vocabulary and the library"
    assert batch < 60, "MiB: one batch"
    assert later < 24, "MiB: sixty batches of changing shapes leave less than half of one each"


def test_vectors_are_those_of_exact_arithmetic_on_the_stored_weights(minilm_onnx: ModelFile) -> None:
    """What rounding floats changes here bounds what it changes on a processor with other kernels."""
    exact = ReferenceBert(minilm_gguf.source_dir())
    for name, weight in exact._weights.items():
        if weight.ndim == 2 and "token_type" not in name and "pooler" not in name:
            scale = (np.abs(weight).max(axis=1, keepdims=True) / 127).astype(np.float32)
            exact._weights[name] = np.rint(weight / scale) * scale
    texts = ["why did the build break?", "Ana rolled the deployment back because the token had expired.", "tea " * 120]

    rows = embedded(minilm_onnx, *texts)

    assert [float(row @ exact.embed(text)) for row, text in zip(rows, texts, strict=True)] == pytest.approx(
        [1] * 3, abs=1e-5
    )
