"""The scripts of deploy/ and the Makefile, with something in Docker's place that says or keeps what it is told."""

from __future__ import annotations

import gzip
import hashlib
import os
import pty
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMPOSE = ROOT / "deploy/compose.sh"
_DOCKER = """#!/bin/sh
case "$*" in
  *"ps -a --services") echo ingest; echo neo4j ;;
  *"ps -aq ingest") echo one; echo two ;;
  *"ps -aq neo4j") echo one ;;
  *) echo "$@" ;;
esac
"""


_KEEPER = """#!/bin/sh
echo "$@" >> {folder}/commands
case "$*" in *" tar "*) cat > {folder}/unpacked ;; *" load "*) cat > /dev/null ;; esac
"""


def _write_fake_docker(tmp_path: Path, script: str) -> None:
    docker = tmp_path / "docker"
    docker.write_text(script)
    docker.chmod(0o755)


def _run_with_fake_docker(tmp_path: Path, line: str) -> str:
    _write_fake_docker(tmp_path, _DOCKER)
    done = subprocess.run(
        ["bash", "-euc", f"source {COMPOSE}; {line}"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_up_all_keeps_the_number_of_copies_of_each_service(tmp_path: Path) -> None:
    assert (
        _run_with_fake_docker(tmp_path, "up_all --no-build")
        == "compose up -d --wait --no-recreate --scale ingest=2 --no-build"
    )


def test_up_scales_only_the_started_service(tmp_path: Path) -> None:
    assert _run_with_fake_docker(tmp_path, "up neo4j") == "compose up -d --wait --no-recreate neo4j"


def test_scripts_and_make_read_the_size_file_before_env(tmp_path: Path) -> None:
    script = tmp_path / "deploy/compose.sh"
    script.parent.mkdir()
    script.write_text(COMPOSE.read_text())
    (tmp_path / ".env").touch()
    both = "compose --env-file deploy/16gb.env --env-file .env ps"
    line = f"source {script}; VICW_ENV_FILE=deploy/16gb.env compose ps; compose ps"
    assert _run_with_fake_docker(tmp_path, line).splitlines() == [both, "compose ps"]
    told = subprocess.run(
        ["make", "-n", "--no-print-directory", "-f", str(ROOT / "Makefile"), "down", "SIZE=16gb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told == "docker compose --env-file deploy/16gb.env --env-file .env down\n"


def _backup(tmp_path: Path, vectors: str, content: bytes) -> Path:
    folder = tmp_path / "backup"
    folder.mkdir()
    files = {"neo4j.dump": b"graph", vectors: content}
    for name, each in files.items():
        (folder / name).write_bytes(each)
    sums = (f"{hashlib.sha256(each).hexdigest()}  {name}" for name, each in files.items())
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    return folder


def _restore(
    tmp_path: Path, folder: Path, *, stdin: int = subprocess.DEVNULL, **variables: str
) -> subprocess.CompletedProcess[str]:
    _write_fake_docker(tmp_path, _KEEPER.format(folder=tmp_path))
    (tmp_path / "commands").touch()
    return subprocess.run(
        [str(ROOT / "deploy/restore"), str(folder)],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", **variables},
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "content"), [("qdrant.tar.gz", gzip.compress(b"vectors", mtime=0)), ("qdrant.tar", b"vectors")]
)
def test_restore_unpacks_compressed_and_plain_vectors(tmp_path: Path, name: str, content: bytes) -> None:
    folder = _backup(tmp_path, name, content)
    done = _restore(tmp_path, folder, VICW_YES="1")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "unpacked").read_bytes() == b"vectors"
    assert "made anew" not in done.stdout


def test_restore_without_a_terminal_requires_vicw_yes(tmp_path: Path) -> None:
    folder = _backup(tmp_path, "qdrant.tar.gz", gzip.compress(b"vectors", mtime=0))
    done = _restore(tmp_path, folder)
    assert done.returncode == 2
    assert "VICW_YES=1" in done.stderr
    assert (tmp_path / "commands").read_text() == ""


def test_restore_on_a_terminal_asks_for_confirmation(tmp_path: Path) -> None:
    folder = _backup(tmp_path, "qdrant.tar.gz", gzip.compress(b"vectors", mtime=0))
    ours, theirs = pty.openpty()
    try:
        os.write(ours, b"n\n")
        done = _restore(tmp_path, folder, stdin=theirs)
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 1
    assert (tmp_path / "commands").read_text() == ""
