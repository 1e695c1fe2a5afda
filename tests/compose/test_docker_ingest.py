"""The command as docs/operations.md has it for whoever has nothing but Docker."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from compose.conftest import ROOT, Compose
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(3600)]
PAGE = (ROOT / "docs/operations.md").read_text("utf-8")


@pytest.fixture(scope="module")
def function() -> str:
    """The shell function of the page, over the file of this project."""
    line: str
    (line,) = re.findall(r"^vicw\(\) \{.*\}$", PAGE, re.MULTILINE)
    return line.replace("~/vicw/docker-compose.yml", str(ROOT / "docker-compose.yml"))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of 1,000 sections, which take a while; anybody may read it."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(40):
        parts = (f"## Part {part} of {number}\n\nThe otter {number}-{part} wrote of the river.\n" for part in range(25))
        (folder / f"note{number}.md").write_text("\n".join(parts))
    tmp_path.chmod(0o755)
    return folder


def test_an_interrupted_docker_ingest_is_resumed_and_found(compose: Compose, function: str, notes: Path) -> None:
    compose.variables["VICW_API_KEY"] = compose.key()

    def vicw(line: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", f"{function}\n{line}"],
            cwd=notes.parent,
            env=compose.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def counted(told: str, what: str) -> int:
        return int(re.findall(rf"{what}\s+(\d+)", told)[0])

    stopped = vicw("vicw ingest notes")
    try:
        container = eventually(lambda: command_container(compose), bool, 60, "the import runs")
        noted = ["docker", "exec", container, "sh", "-c", "grep -qs done /imports/vicw/imports/*.jsonl"]
        eventually(lambda: subprocess.run(noted, check=False).returncode, lambda code: code == 0, 120, "some is stored")
        compose.run(["docker", "kill", "--signal", "INT", container])
        told, said = stopped.communicate(timeout=120)
    finally:
        stopped.kill()
    assert stopped.returncode == 130, told + said
    assert "run the same import again to continue" in said
    first = counted(told, "created")
    assert 0 < first < 1000

    told, said = vicw("vicw ingest notes").communicate(timeout=300)
    assert (counted(told, "stored by an earlier run"), counted(told, "created")) == (first, 1000 - first), told + said
    assert "in context notes" in told

    answer, said = vicw('vicw retrieve "what did the otter write of?" --context notes').communicate(timeout=120)
    assert "of the river" in answer, said


def command_container(compose: Compose) -> str:
    """Return the id of the command's container, if it runs."""
    name = compose.variables["COMPOSE_PROJECT_NAME"]
    return compose.run(["docker", "ps", "-q", "--filter", f"name={name}-vicw-run"]).strip()


def test_the_documented_cypher_shell_command_works(compose: Compose) -> None:
    (line,) = re.findall(r"^docker compose run .*--entrypoint bash neo4j -c \\\n  '.*'$", PAGE, re.MULTILINE)
    version = compose("run", "--rm", "--no-deps", "-T", "--entrypoint", "cypher-shell", "neo4j", "--version")
    if "stand-in" in version:
        pytest.skip("this image's cypher-shell is not Neo4j's own, and speaks no Bolt")
    asked = line.replace("--access-mode read'", """--access-mode read "RETURN 6 * 7"'""")
    assert "42" in compose.run(["bash", "-c", asked])
