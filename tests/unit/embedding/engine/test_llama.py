"""The traps of llama.cpp, on the real library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vicw_embedding.engine.llama import LlamaModel
from vicw_embedding.models.model_files import ModelFile
from vicw_shared.errors import SettingsError


def test_a_file_that_is_no_model_is_a_settings_error(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 50)

    with pytest.raises(SettingsError, match=r"broken\.gguf"):
        LlamaModel(broken)
    with pytest.raises(SettingsError, match="nothing"):
        LlamaModel(tmp_path / "nothing.gguf")


def test_a_gguf_without_llama_cpp_names_what_to_install(tiny_encoder: ModelFile) -> None:
    script = (
        "import sys\n"
        "sys.modules['llama_cpp'] = None\n"
        "from pathlib import Path\n"
        "from vicw_embedding.engine.llama import LlamaModel\n"
        "LlamaModel(Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", script, str(tiny_encoder.path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "SettingsError: GGUF models need llama.cpp" in done.stderr
    assert "pip install 'vicw[gguf]'" in done.stderr


def test_llama_cpp_is_loaded_late_and_limits_openmp_spinning() -> None:
    script = (
        "import os, sys\n"
        "import vicw_embedding.app, vicw_embedding.wiring\n"
        "import vicw_embedding.models.hub, vicw_embedding.process.supervisor\n"
        "assert not {'llama_cpp', 'onnxruntime', 'gguf', 'huggingface_hub', 'safetensors'} & set(sys.modules)\n"
        "from vicw_embedding.engine import llama\n"
        "llama._library()\n"
        "assert os.environ['GOMP_SPINCOUNT'] == '500'\n"
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
engine = Engine(ModelFile(read_card(path), path, ""), EngineOptions())
for lane in Lane:
    engine.submit(["a river and a stone"], lane).result()
print(json.dumps([sorted(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")]))
engine.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="this system does not list its threads")
def test_no_worker_is_pinned_to_a_core(tiny_encoder: ModelFile) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_PROC_BIND"}
    command = [sys.executable, "-c", _WORKERS, str(tiny_encoder.path)]

    done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=60)

    cores = json.loads(done.stdout.splitlines()[-1])
    assert cores == [sorted(os.sched_getaffinity(0))] * len(cores), "another server may need any of the cores"
