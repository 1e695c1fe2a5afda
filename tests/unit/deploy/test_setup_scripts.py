"""The scripts that set up a checkout and give it a version, with something in uv's place that keeps what it is told."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
VERSIONED = (
    "pyproject.toml",
    "shared/pyproject.toml",
    "client/pyproject.toml",
    "minilm/pyproject.toml",
    "deploy/helm/vicw/Chart.yaml",
    "docker-compose.yml",
    "server.json",
    "services/standalone/vicw_standalone/agent_hooks/plugin/plugin.json",
)
NEEDED = ("bash", "dirname", "env", "ln", "mkdir", "rm", "sed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The scripts and what they change; on ``bin``, which is all of PATH, there is no compiler."""
    root = tmp_path / "checkout"
    for name in (*VERSIONED, "scripts/setup", "scripts/set_version", "scripts/uv"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    programs = root / "bin"
    programs.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    _write_program(programs / "uv", 'echo "$@ CMAKE_ARGS=${CMAKE_ARGS:-}" >> told')
    _write_program(root / ".venv/bin/python", "true")
    return root


def _write_program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{line}\n")
    path.chmod(0o755)


def _run(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(checkout / "bin"), "UV_PYTHON": "3.12"}
    return subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def _told(checkout: Path) -> str:
    return (checkout / "told").read_text("utf-8")


def test_setup_of_vicw_alone_needs_no_compiler(checkout: Path) -> None:
    done = _run(checkout, "scripts/setup", "--no-dev", "--inexact")
    assert done.returncode == 0, done.stderr
    assert "sync --locked" in _told(checkout)
    assert "llama" not in _told(checkout)


def test_an_environment_of_the_earlier_packages_is_made_anew(checkout: Path) -> None:
    packages = checkout / ".venv/lib/python3.12/site-packages"
    (packages / "vicw_shared-0.1.0.dist-info").mkdir(parents=True)
    assert _run(checkout, "scripts/setup", "--no-dev", "--inexact").returncode == 0
    assert packages.exists()
    (packages / "vicw_standalone-0.1.0.dist-info").mkdir()
    _write_program(checkout / "bin/uv", "mkdir -p .venv/bin; ln -s /bin/true .venv/bin/python")
    done = _run(checkout, "scripts/setup", "--no-dev", "--inexact")
    assert done.returncode == 0, done.stderr
    assert not packages.exists()


@pytest.mark.parametrize("options", [[], ["--no-dev", "--extra", "gguf"], ["--no-dev", "--all-extras"]], ids=" ".join)
def test_setup_with_llama_cpp_names_the_compiler_that_it_needs(checkout: Path, options: list[str]) -> None:
    done = _run(checkout, "scripts/setup", *options)
    assert done.returncode == 1
    assert "C++ compiler" in done.stderr
    assert not (checkout / "told").exists()
    for compiler in ("cc", "c++"):
        _write_program(checkout / "bin" / compiler, "true")
    assert _run(checkout, "scripts/setup", *options).returncode == 0
    assert "deploy/llama-trim.cmake" in _told(checkout)


def test_a_version_is_set_wherever_it_is_stated(checkout: Path) -> None:
    done = _run(checkout, "scripts/set_version", "0.9.0rc1")
    assert done.returncode == 0, done.stderr
    stated = {}
    for name in VERSIONED:
        text = (checkout / name).read_text("utf-8")
        found = re.findall(
            r'^ *"?(?:version|appVersion)"?[ =:]+"?([\w.]+)|"vicw-\w+==([^"]+)"|VICW_VERSION:-([^}]+)', text, re.M
        )
        stated[name] = {"".join(one) for one in found}
    model = tomllib.loads((ROOT / "minilm/pyproject.toml").read_text("utf-8"))["project"]["version"]
    weights = "0.1.0"
    assert stated.pop("minilm/pyproject.toml") == {model}
    assert stated.pop("pyproject.toml") == {"0.9.0rc1", model, weights}
    assert set.union(*stated.values()) == {"0.9.0rc1"}
    assert _told(checkout).startswith("lock")


@pytest.mark.parametrize("version", ["", "1.0", "v1.0.0", "1.0.0; rm"])
def test_what_is_no_version_is_refused(checkout: Path, version: str) -> None:
    done = _run(checkout, "scripts/set_version", version)
    assert done.returncode == 1
    assert "set_version" in done.stderr
    assert (checkout / "pyproject.toml").read_text("utf-8") == (ROOT / "pyproject.toml").read_text("utf-8")
