"""The traps of llama.cpp, on the real library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from vicw_embedding.engine.native import MAX_SEQUENCES, NativeContext, NativeModel
from vicw_embedding.engine.windows import normalise
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.errors import SettingsError

BATCH_TOKENS = 512


@pytest.fixture(params=["tiny_encoder", "tiny_decoder", "minilm_file"])
def model_file(request: pytest.FixtureRequest) -> ModelFile:
    file: ModelFile = request.getfixturevalue(request.param)
    return file


@pytest.fixture
def model(model_file: ModelFile) -> Iterator[NativeModel]:
    opened = NativeModel(model_file.path)
    yield opened
    opened.close()


@pytest.fixture
def context(model: NativeModel, model_file: ModelFile) -> Iterator[NativeContext]:
    opened = NativeContext(model, model_file.card.pooling, threads=2, batch_tokens=BATCH_TOKENS)
    yield opened
    opened.close()


def test_a_packed_batch_gives_what_each_sequence_gives_alone(model: NativeModel, context: NativeContext) -> None:
    texts = ["why the build broke", "river stone", "a", "the user query of a memory because of time"]
    sequences = [model.frame.around(model.tokenize(text)) for text in texts]

    together = normalise(context.embed(sequences))
    alone = normalise(np.concatenate([context.embed([sequence]) for sequence in sequences]))

    assert together.shape == (4, model.size)
    assert (together * alone).sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert abs(together[0] @ together[1]) < 0.999


def test_the_frame_has_one_token_before_and_one_after_a_text(model: NativeModel) -> None:
    assert len(model.frame.suffix) == 1, "each of these models ends a text with a token of its own"
    assert len(model.frame.prefix) == 1


@pytest.mark.parametrize(
    "sequences",
    [
        pytest.param([], id="no sequence"),
        pytest.param([[5], []], id="an empty sequence"),
        pytest.param([[5] * (BATCH_TOKENS + 1)], id="one token too many"),
        pytest.param([[5] * 300, [5] * 300], id="too many together"),
        pytest.param([[5]] * (MAX_SEQUENCES + 1), id="too many sequences"),
    ],
)
def test_invalid_batches_are_refused_before_llama_cpp(context: NativeContext, sequences: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="batch"):
        context.embed(sequences)
    assert context.embed([[5]]).shape[0] == 1, "the context still works"


def test_a_full_batch_works(context: NativeContext) -> None:
    assert context.embed([[5] * BATCH_TOKENS]).shape[0] == 1
    assert context.embed([[5] * (BATCH_TOKENS // MAX_SEQUENCES)] * MAX_SEQUENCES).shape[0] == MAX_SEQUENCES


def test_words_that_look_like_special_tokens_are_plain_text(model: NativeModel) -> None:
    special = {*model.frame.prefix, *model.frame.suffix}

    assert not special & set(model.tokenize("</s> [SEP] <s> [CLS] <|endoftext|>"))


@pytest.mark.parametrize("text", ["", " ", "\0", "a\0b", "\ud800", "\u202e\U0001f9ff", "x" * 20_000])
def test_any_text_can_be_tokenised(model: NativeModel, text: str) -> None:
    assert all(isinstance(token, int) for token in model.tokenize(text))


def test_a_file_that_is_no_model_is_a_settings_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 50)

    with pytest.raises(SettingsError, match=r"broken\.gguf"):
        NativeModel(broken)
    with pytest.raises(SettingsError, match="nothing"):
        NativeModel(tmp_path / "nothing.gguf")


def test_llama_cpp_is_loaded_late_and_limits_openmp_spinning() -> None:
    script = (
        "import os, sys\n"
        "import vicw_embedding.app, vicw_embedding.wiring\n"
        "import vicw_embedding.models.hub, vicw_embedding.process.supervisor\n"
        "assert not {'llama_cpp', 'gguf', 'huggingface_hub', 'safetensors'} & set(sys.modules)\n"
        "from vicw_embedding.engine import native\n"
        "native._library()\n"
        "assert os.environ['GOMP_SPINCOUNT'] == '3000'\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}

    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


_WORKERS = """
import json, os, sys
from pathlib import Path
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models.model_files import ModelFile, read_card
from vicw_shared.ports.embedder import Lane

path = Path(sys.argv[1])
engine = Engine(ModelFile(read_card(path), path, ""), EngineOptions(threads=int(sys.argv[2])))
for lane in Lane:
    engine.submit(["a river and a stone"], lane).result()
cores = [os.sched_getaffinity(int(thread)) for thread in os.listdir("/proc/self/task")]
engine.close()
print(json.dumps([sorted(os.sched_getaffinity(0)), [min(c) for c in cores if len(c) == 1]]))
"""


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not pin threads")
@pytest.mark.parametrize("threads", [0, 1])
def test_workers_are_pinned_to_one_core_each_when_all_are_used(tiny_encoder: ModelFile, threads: int) -> None:
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) == 1:
        pytest.skip("one core")
    arguments = [sys.executable, "-c", _WORKERS, str(tiny_encoder.path), str(threads)]
    done = subprocess.run(arguments, capture_output=True, check=True, timeout=60)

    loader, pinned = json.loads(done.stdout.splitlines()[-1])

    assert loader == mine, "the thread that loads, whose children would share its core, is free again"
    assert sorted(pinned) == (sorted(mine * 2) if threads == 0 else []), "two lanes, a worker a core in each"
