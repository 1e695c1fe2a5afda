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
        "assert os.environ['GOMP_SPINCOUNT'] == '3000'\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}

    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


_WORKERS = """
import json, os, sys
from pathlib import Path
from vicw_embedding.engine import llama
from vicw_embedding.engine.engine import Engine, EngineOptions
from vicw_embedding.models.model_files import ModelFile, read_card
from vicw_shared.ports.embedder import Lane

path = Path(sys.argv[1])
if sys.argv[2] == "0":
    llama.pin_workers(f"vicw-test-{os.getpid()}")  # other servers may run
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


@pytest.mark.skipif(sys.platform != "linux", reason="this system does not pin threads")
def test_workers_are_pinned_only_where_no_other_process_has_pinned_its_own() -> None:
    script = (
        "import os, sys\n"
        "from vicw_embedding.engine import llama\n"
        "llama.pin_workers(sys.argv[1])\n"
        "print(os.environ.get('OMP_PROC_BIND'), flush=True)\n"
        "input()\n"
    )
    command = [sys.executable, "-c", script, f"vicw-test-{os.getpid()}"]
    environment = {name: value for name, value in os.environ.items() if name != "OMP_PROC_BIND"}

    def start() -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    first, pinned = start()
    second, beside = start()
    first.communicate("\n", timeout=20)
    third, alone = start()
    for process in (second, third):
        process.communicate("\n", timeout=20)

    assert (pinned, beside, alone) == ("true", "None", "true")
