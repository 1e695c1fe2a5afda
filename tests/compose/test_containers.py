"""`docker compose up`, and what an operator does with it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from compose.conftest import ROOT, Compose
from support.processes.server import eventually

pytestmark = [pytest.mark.process, pytest.mark.timeout(3600)]
ONE_SHOTS = {"prepare", "model"}


@pytest.fixture(scope="module")
def key(compose: Compose) -> str:
    return compose.key()


def test_all_containers_become_healthy(compose: Compose) -> None:
    states = compose.states()
    assert {name: states.pop(name) for name in ONE_SHOTS} == dict.fromkeys(ONE_SHOTS, "exited 0")
    assert set(states.values()) == {"healthy"}, states
    print(f"from nothing to healthy: {compose.seconds:.0f} s")
    logs = compose("logs", "--no-color", "ingest", "ingest-worker", "retrieval", "sleep-worker", "sleep-beat")
    assert "deadlock" not in logs.lower(), "what starts together is no news"


def test_the_readme_commands_for_services_work(compose: Compose, key: str) -> None:
    section = (ROOT / "README.md").read_text("utf-8").split("## As services")[1].split("\n## ")[0]
    curls = re.findall(r"^curl .*?(?=\n\n|\n```|\ncurl )", section, re.MULTILINE | re.DOTALL)
    assert len(curls) == 2
    script = "\n".join(curls).replace(":8080", f":{compose.ingest}").replace(":8081", f":{compose.retrieval}")
    done = subprocess.run(
        ["bash", "-ec", script],
        capture_output=True,
        text=True,
        env={"VICW_API_KEY": key, "PATH": "/usr/bin:/bin"},
        check=True,
    )
    decoder = json.JSONDecoder()
    stored, at = decoder.raw_decode(done.stdout)
    answer, _ = decoder.raw_decode(done.stdout[at:].lstrip())
    assert [item["status"] for item in stored["items"]] == ["created"] * len(stored["items"])
    assert answer["results"][0]["id"] == stored["items"][-1]["id"]
    assert answer["degraded"] == []


def test_both_images_include_opentelemetry(compose: Compose) -> None:
    for service in ("ingest", "embedding"):
        compose("exec", "-T", service, "python", "-c", "import vicw_runtime.telemetry.opentelemetry")


def test_requests_without_an_api_key_are_refused(compose: Compose) -> None:
    assert compose.ask(None, "what?").status_code == 401
    assert compose.remember(None, {"text": "x"}).status_code == 401
    program = "import http.client as h; c = h.HTTPConnection('embedding', 8080); c.request('GET', '/v1/models')"
    assert compose("exec", "-T", "ingest", "python", "-c", f"{program}; print(c.getresponse().status)").strip() == "401"


def test_containers_run_unprivileged_on_read_only_file_systems(compose: Compose) -> None:
    for service in (
        "ingest",
        "ingest-worker",
        "retrieval",
        "embedding",
        "sleep-worker",
        "sleep-beat",
        "neo4j",
        "qdrant",
    ):
        said = compose("exec", "-T", service, "sh", "-c", "id -u; touch /usr/x 2>&1 || true")
        assert said.split()[0] != "0", service
        assert "Read-only" in said, service


@pytest.mark.parametrize("service", ["neo4j", "qdrant", "redis", "embedding", "ingest", "ingest-worker"])
def test_a_killed_container_restarts_without_data_loss(compose: Compose, key: str, service: str) -> None:
    word = f"zebra{service.replace('-', '')}"
    assert compose.remember(key, {"id": service, "text": f"The {word} sleeps in the barn."}).status_code == 201
    container = compose.container(service)
    pid = compose.run(["docker", "inspect", "-f", "{{.State.Pid}}", container]).strip()
    children = Path(f"/proc/{pid}/task/{pid}/children")
    victims = children.read_text().split() if children.exists() else []
    compose.run(["kill", "-9", *(victims or [pid])])

    def answers() -> bool:
        answer = compose.ask(key, word)
        return (
            answer.status_code == 200
            and answer.json()["degraded"] == []
            and answer.json()["results"][0]["id"] == service
        )

    eventually(answers, bool, 120, f"answers after {service} was killed")
    eventually(compose.states, lambda states: states[service] == "healthy", 120, f"{service} is healthy")
    assert compose.remember(key, {"id": service, "text": f"The {word} sleeps in the barn."}).json()["items"][0][
        "status"
    ] == ("unchanged")


def test_restore_brings_back_the_state_of_the_backup(compose: Compose, key: str, tmp_path: Path) -> None:
    assert compose.remember(key, {"id": "kept", "text": "The otter keeps a ledger."}).status_code == 201
    folder = tmp_path / "backup"
    compose.run([str(ROOT / "deploy/backup"), str(folder)], within=600)
    assert {path.name for path in folder.iterdir()} == {"neo4j.dump", "qdrant.tar.gz", "SHA256SUMS"}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 20 * 2**20, "no room that nobody uses"
    assert compose.remember(key, {"id": "later", "text": "The otter burned the ledger."}).status_code == 201
    broken = shutil.copytree(folder, tmp_path / "broken")
    (broken / "neo4j.dump").write_bytes((folder / "neo4j.dump").read_bytes()[:-1])
    with pytest.raises(AssertionError, match="nothing was changed"):
        compose.run([str(ROOT / "deploy/restore"), str(broken)], within=600)
    assert compose.ask(key, "otter ledger").status_code == 200
    compose.run([str(ROOT / "deploy/restore"), str(folder)], within=600)
    eventually(lambda: compose.ask(key, "otter ledger").status_code, lambda status: status == 200, 60, "answers again")
    found = [result["id"] for result in compose.ask(key, "otter ledger").json()["results"]]
    assert ("kept" in found, "later" in found) == (True, False)


def test_a_backup_restored_without_vectors_is_embedded_again(compose: Compose, key: str, tmp_path: Path) -> None:
    assert compose.remember(key, {"id": "again", "text": "The lynx mends a clock."}).status_code == 201
    folder = tmp_path / "backup"
    compose.run([str(ROOT / "deploy/backup"), str(folder)], within=600)
    (folder / "qdrant.tar.gz").unlink()
    compose.run([str(ROOT / "deploy/restore"), str(folder)], within=600)

    def found() -> bool:
        answer = compose.ask(key, "lynx clock").json()
        return bool(answer.get("results")) and answer["results"][0]["id"] == "again" and not answer["degraded"]

    eventually(found, bool, 180, "the passages are embedded anew")


def test_the_platform_check_is_clean_after_all_tests(compose: Compose) -> None:
    eventually(
        lambda: compose("run", "--rm", "-T", "vicw", "check", "--platform").splitlines(),
        lambda lines: lines[-1] == "clean" and ", 0 waiting" in lines[0],
        120,
        "clean",
    )
