"""What a lane needs of a model, on both engines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from vicw_embedding.engine.loader import load
from vicw_embedding.engine.port import Context, Model
from vicw_embedding.engine.windows import normalise
from vicw_embedding.models.model_files import ModelFile

BATCH_TOKENS = 512


@pytest.fixture(
    params=["tiny_encoder", "tiny_decoder", "minilm_file", "tiny_onnx_encoder", "tiny_onnx_decoder", "minilm_onnx"]
)
def model_file(request: pytest.FixtureRequest) -> ModelFile:
    file: ModelFile = request.getfixturevalue(request.param)
    return file


@pytest.fixture
def model(model_file: ModelFile) -> Iterator[Model]:
    opened = load(model_file)
    yield opened
    opened.close()


@pytest.fixture
def context(model: Model, model_file: ModelFile) -> Iterator[Context]:
    opened = model.open_context(model_file.card.pooling, threads=2, batch_tokens=BATCH_TOKENS)
    yield opened
    opened.close()


def test_a_packed_batch_gives_what_each_sequence_gives_alone(model: Model, context: Context) -> None:
    texts = ["why the build broke", "river stone", "a", "the user query of a memory because of time"]
    sequences = [model.frame.around(model.tokenize(text)) for text in texts]

    together = normalise(context.embed(sequences))
    alone = normalise(np.concatenate([context.embed([sequence]) for sequence in sequences]))

    assert together.shape == (4, model.size)
    assert (together * alone).sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert abs(together[0] @ together[1]) < 0.999


def test_the_frame_has_one_token_before_and_one_after_a_text(model: Model) -> None:
    assert len(model.frame.suffix) == 1, "each of these models ends a text with a token of its own"
    assert len(model.frame.prefix) == 1


@pytest.mark.parametrize(
    "sequences",
    [
        pytest.param([], id="no sequence"),
        pytest.param([[5], []], id="an empty sequence"),
        pytest.param([[5] * (BATCH_TOKENS + 1)], id="one token too many"),
        pytest.param([[5] * 300, [5] * 300], id="too many together"),
        pytest.param([[5]] * 65, id="too many sequences"),
    ],
)
def test_invalid_batches_are_refused_before_the_library(context: Context, sequences: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="batch"):
        context.embed(sequences)
    assert context.embed([[5]]).shape[0] == 1, "the context still works"


def test_a_full_batch_works(context: Context) -> None:
    assert context.embed([[5] * BATCH_TOKENS]).shape[0] == 1
    assert context.embed([[5] * (BATCH_TOKENS // 64)] * 64).shape[0] == 64


def test_words_that_look_like_special_tokens_are_plain_text(model: Model) -> None:
    special = {*model.frame.prefix, *model.frame.suffix}

    assert not special & set(model.tokenize("</s> [SEP] <s> [CLS] <|endoftext|>"))


@pytest.mark.parametrize("text", ["", " ", "\0", "a\0b", "\ud800", "\u202e\U0001f9ff", "x" * 20_000])
def test_any_text_can_be_tokenised(model: Model, text: str) -> None:
    assert all(isinstance(token, int) for token in model.tokenize(text))
