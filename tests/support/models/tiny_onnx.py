"""Builds tiny ONNX models with random weights, and their tokenizers: right in shape, fast, and meaningless."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

from support.models.tiny_gguf import BOS, EOS, SIZE, WORDS_AND_LETTERS
from vicw_embedding.models.digests import sha256
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.embedding_models import EmbeddingModel, ModelFormat, Pooling

MAKER = runpy.run_path(str(Path(__file__).resolve().parents[3] / "minilm" / "make_model.py"))
FLOAT, INT64 = 1, 7
LONGEST = 512


def encoder(folder: Path) -> ModelFile:
    """Write a one-layer, 1024-d encoder with CLS pooling, like the production model."""
    return write(folder, Pooling.CLS, smallest_size=256)


def decoder(folder: Path) -> ModelFile:
    """Write a one-layer, 1024-d causal model with last-token pooling."""
    return write(folder, Pooling.LAST, causal=True)


def write(folder: Path, pooling: Pooling = Pooling.MEAN, *, causal: bool = False, **changes: Any) -> ModelFile:
    """Write ``model.onnx`` and ``tokenizer.json``; ``changes`` are those of ``graph`` and of the card."""
    folder.mkdir(parents=True, exist_ok=True)
    smallest = changes.pop("smallest_size", None)
    path = folder / "model.onnx"
    path.write_bytes(graph(causal=causal, **changes))
    tokenizer().save(str(folder / "tokenizer.json"))
    card = EmbeddingModel(
        name=folder.name,
        format=ModelFormat.ONNX,
        size=SIZE,
        pooling=pooling,
        max_tokens=LONGEST,
        licence="none",
        smallest_size=smallest,
    )
    return ModelFile(card, path, sha256(path))


def tokenizer(words: int | None = None) -> Any:
    """Return a tokenizer of all words, or of the first so many; ids 0 and 2 stand around a text."""
    vocabulary = [(word, 0.0 if number < 4 else -1 - 8 / len(word)) for number, word in enumerate(WORDS_AND_LETTERS)]
    made = Tokenizer(models.Unigram(vocabulary[:words], unk_id=3))
    made.add_special_tokens([AddedToken(word, special=True) for word in ("<s>", "<pad>", "</s>", "<unk>")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", BOS), ("</s>", EOS)]
    )
    return made


def graph(
    *,
    causal: bool = False,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    vocabulary: int = len(WORDS_AND_LETTERS),
    positions: int = LONGEST,
    pooled: bool = False,
    quantised: bool = False,
    scale: float = 0.03,
) -> bytes:
    """Return an ONNX file: embeddings, attention to what is near and not masked, and a projection."""
    random = np.random.default_rng(7)
    made = MAKER["Graph"]()

    def constant(name: str, values: Any) -> str:
        array = np.asarray(values)
        kind = INT64 if array.dtype == np.int64 else FLOAT
        data = array.astype("<i8" if kind == INT64 else "<f4").tobytes()
        constant_name: str = made.constant(name, MAKER["Tensor"](kind, array.shape, data))
        return constant_name

    zero, one = constant("zero", np.array(0)), constant("one", np.array(1))
    length = made.add("length", "Squeeze", made.add("length.1", "Shape", "input_ids", start=1, end=2))
    order = made.add("order", "Range", zero, length, one)
    words = made.add("words", "Gather", constant("W", random.normal(0, 1, (vocabulary, SIZE))), "input_ids")
    places = made.add("places", "Gather", constant("P", random.normal(0, 0.1, (positions, SIZE))), order)
    x = made.add("x", "Add", words, places)
    before = made.add("distance", "Sub", made.add("o.1", "Unsqueeze", order, constant("a1", np.array([1]))), order)
    distance = made.add("distance.abs", "Abs", made.add("distance.float", "Cast", before, to=FLOAT))
    near = made.add("near", "Mul", distance, constant("scale", np.float32(-0.01)))
    hidden = made.add("hidden", "Cast", made.add("hidden.int", "Sub", one, "attention_mask"), to=FLOAT)
    far = constant("far", np.float32(-1e9))
    hidden = made.add(
        "masked", "Unsqueeze", made.add("hidden.far", "Mul", hidden, far), constant("axis", np.array([1]))
    )
    scores = made.add("seen", "Add", near, hidden)
    if causal:
        later = made.add("later", "Less", before, zero)
        later = made.add("later.far", "Mul", made.add("later.float", "Cast", later, to=FLOAT), far)
        scores = made.add("before", "Add", scores, later)
    mixed = made.add("mixed", "MatMul", made.add("weights", "Softmax", scores, axis=2), x)
    y = made.add("y", "Add", x, mixed)
    if quantised:
        y = _through_integers(made, y)
    if pooled:
        y = made.add("first", "Gather", y, zero, axis=1)
    made.add(output, "MatMul", y, constant("O", random.normal(0, 1, (SIZE, SIZE)) * scale))
    shape = ("batch", SIZE) if pooled else ("batch", "tokens", SIZE)
    return _file(made, inputs, output, shape)


def _through_integers(made: Any, name: str) -> str:
    """Round to 8 bits with a scale of the whole batch, as dynamically quantised models do before each product."""
    field = MAKER["_bytes"]
    parts = ["y.q", "y.scale", "y.zero"]
    made._nodes.append(field(1, name) + b"".join(field(2, part) for part in parts) + field(4, "DynamicQuantizeLinear"))
    rounded: str = made.add("y.rounded", "DequantizeLinear", *parts)
    return rounded


def _file(made: Any, inputs: tuple[str, ...], output: str, shape: tuple[int | str, ...]) -> bytes:
    field, number, value = MAKER["_bytes"], MAKER["_varint"], MAKER["_value"]
    content = (
        b"".join(field(1, node) for node in made._nodes)
        + field(2, "tiny")
        + b"".join(field(5, constant) for constant in made._constants)
        + b"".join(field(11, value(name, INT64, "batch", "tokens")) for name in inputs)
        + field(12, value(output, FLOAT, *shape))
    )
    opset = field(8, field(1, "") + number(2, 17))
    model: bytes = number(1, 8) + field(7, content) + opset
    return model
