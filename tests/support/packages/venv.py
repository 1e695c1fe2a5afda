"""An empty virtual environment, and commands in it that find no compiler, no uv and no checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

INSTALL_SECONDS = 600.0


def find_python(version: str) -> Path:
    """Return a Python of this version that runs; skips the test if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/python3"))
    on_path = shutil.which(f"python{version}")
    for python in ([Path(on_path)] if on_path else []) + found:  # pyenv's shims may be on PATH and not run
        done = subprocess.run([python, "-c", "import venv"], capture_output=True, timeout=60, check=False)
        if done.returncode == 0:
            return python
    pytest.skip(f"Python {version} is not installed")


class Venv:
    """A virtual environment, made by ``python -m venv``, with a home directory of its own beside it."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.bin = folder / "venv" / "bin"
        self.home = folder / "home"
        self.home.mkdir()
        subprocess.run([python, "-m", "venv", folder / "venv"], cwd=folder, timeout=120, check=True)

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the variables of a user of this environment alone."""
        kept = {name: os.environ[name] for name in ("LANG", "SSL_CERT_FILE", "TMPDIR") if name in os.environ}
        return kept | {"PATH": str(self.bin), "HOME": str(self.home), "CC": "false", "CXX": "false"} | variables

    def pip_install(self, *arguments: str | Path) -> None:
        """Run ``pip install`` as whoever runs the tests has it set up: their index and their cache."""
        environment = os.environ | {"PATH": str(self.bin), "CC": "false", "CXX": "false"}
        command = [self.bin / "pip", "install", "--disable-pip-version-check", "--quiet", *arguments]
        done = subprocess.run(
            command,
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def packages(self) -> set[str]:
        """Return the names of what is installed."""
        lines = self.run("pip", "list", "--format=freeze", "--disable-pip-version-check").splitlines()
        return {line.split("==")[0].lower().replace("_", "-") for line in lines}

    def run(self, *command: str | Path, **variables: str) -> str:
        """Return what the command prints; fails if it fails."""
        done = subprocess.run(
            command,
            cwd=self.home,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def serve(self, **variables: str) -> Iterator[str]:
        """Run ``vicw serve`` on a free port; yields its address."""
        environment = self.environment(PYTHONUNBUFFERED="1", **variables)
        command: list[str | Path] = [self.bin / "vicw", "serve", "--port", "0"]
        with (
            (self.home / "serve.log").open("wb") as log,
            subprocess.Popen(command, cwd=self.home, env=environment, stdout=subprocess.PIPE, stderr=log) as process,
        ):
            try:
                assert process.stdout is not None
                line = process.stdout.readline().decode()
                assert line.startswith("VICW answers on http://"), line + (self.home / "serve.log").read_text("utf-8")
                yield line.split()[3]
            finally:
                process.terminate()
        assert process.returncode == 0
