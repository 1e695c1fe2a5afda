"""The model of the platform in containers is changed by the lines of docs/operations.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from compose.conftest import ROOT, Compose
from support.models import tiny_gguf
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(3600)]
NAMED = "snowflake-arctic-embed-l-v2.0"


def model_change_scripts(other: str, env_file: Path) -> list[str]:
    """Return the two scripts of the page, with a model that is at hand and a file of variables of our own."""
    section = (ROOT / "docs/operations.md").read_text("utf-8").split("\n## Containers\n")[1].split("\n## ")[0]
    scripts = [script for script in re.findall(r"```sh\n(.*?)```", section, re.DOTALL) if "embedding-next" in script]
    return [
        re.sub(rf"(VICW_EMBEDDING_\w+)={NAMED}", rf"\1=/models/{other}.gguf", script)
        .replace(NAMED, other)
        .replace(">> .env", f">> {env_file}")
        for script in scripts
    ]


def test_the_commands_of_the_operations_page_change_the_model(compose: Compose, tmp_path: Path) -> None:
    key = compose.key()
    assert compose.remember(key, {"id": "before", "text": "The heron waits in the reeds."}).status_code == 201
    model = tiny_gguf.encoder(tmp_path / "other.gguf")
    model.path.chmod(0o644)
    compose("cp", str(model.path), "embedding:/models/other.gguf")
    env_file = tmp_path / "variables"
    env_file.touch()
    compose.variables["COMPOSE_ENV_FILES"] = str(env_file)

    build, settle = model_change_scripts("other", env_file)
    told = compose.run(["bash", "-ec", build], within=600)
    assert "embedded with other" in told
    compose.run(["bash", "-ec", settle], within=600)

    assert "embedding-next" not in compose.states()
    assert compose.remember(key, {"id": "after", "text": "The heron has left the reeds."}).status_code == 201

    def asked() -> tuple[list[str], set[str]]:
        answer = compose.ask(key, "heron reeds").raise_for_status().json()
        return answer["degraded"], {result["id"] for result in answer["results"]} & {"before", "after"}

    # What has just been started may take longer than a question has time.
    eventually(asked, lambda told: told == ([], {"before", "after"}), 60, "both are found, by all that there is")
    assert "other (1024-d" in compose("run", "--rm", "-T", "vicw", "reindex", "--platform", "--status")
    assert compose("run", "--rm", "-T", "vicw", "check", "--platform").splitlines()[-1] == "clean"
