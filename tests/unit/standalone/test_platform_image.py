"""The image of the platform leaves out what only embedded stores and models need; the command works there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULES = {"hf-xet": "hf_xet", "qdrant-edge-py": "qdrant_edge"}


def _left_out() -> list[str]:
    text = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    packages = re.findall(r"--no-install-package ([\w-]+)", text.split("LEFT_OUT=")[1].splitlines()[0])
    named = [MODULES.get(package, package.replace("-", "_")) for package in packages]
    return [*named, "llama_cpp", "gguf"]  # of the extra `gguf`, which the image does not install


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    [
        ["--help"],
        ["keys", "list", "--platform"],
        ["jobs", "list", "--platform"],
        ["check", "--platform"],
        ["export", "--to", "/nowhere/export", "--platform"],
        ["reindex", "--platform", "--status"],
        ["model", "list"],
        ["retrieve", "anything", "--url", "http://127.0.0.1:9"],
    ],
    ids=" ".join,
)
def test_platform_commands_run_without_the_left_out_packages(command: list[str], tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert "is not installed" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    "command",
    [["doctor"], ["keys", "list"], ["check"], ["export", "--to", "/nowhere"], ["jobs", "list"], ["reindex"], ["serve"]],
)
def test_embedded_commands_on_the_platform_image_suggest_platform(command: list[str], tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert done.returncode != 0
    assert "is not installed here" in done.stderr
    assert "Add --platform" in done.stderr
    assert "Traceback" not in done.stderr


def run(command: list[str], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    left_out = _left_out()
    assert {"qdrant_edge", "onnxruntime", "vicw_minilm"} <= set(left_out)
    program = (
        f"import sys\nsys.modules.update(dict.fromkeys({left_out!r}))\n"
        f"sys.argv = ['vicw', *{command!r}]\nfrom vicw_standalone.cli import main\nmain()"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": ":".join(sys.path),
            "VICW_DATA_DIR": str(tmp_path),
            "VICW_NEO4J_URL": "bolt://127.0.0.1:9",
            "VICW_NEO4J_RETRY_SECONDS": "0.1",
            "VICW_EMBEDDING_URL": "http://127.0.0.1:9/v1",
        },
    )
