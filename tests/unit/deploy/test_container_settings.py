"""What a line in `.env` sets in which container, as Docker Compose itself reads docker-compose.yml."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from vicw_shared.settings.variables import VARIABLES

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docker-compose.yml"
SETTLED = [
    "ingest",
    "ingest-worker",
    "extract-worker",
    "retrieval",
    "sleep-worker",
    "sleep-beat",
    "vicw",
    "embedding",
    "embedding-next",
]
MADE_FOR_CONTAINERS = {
    *("VICW_HOST", "VICW_PORT", "VICW_DATA_DIR", "VICW_URL", "VICW_RETRIEVE_URL", "VICW_WORKER_LIVENESS_FILE"),
    *("VICW_EMBEDDING_URL", "VICW_EMBEDDING_MODELS_DIR", "VICW_EMBEDDING_API_KEY", "VICW_EMBEDDING_API_KEY_FILE"),
    "VICW_METRICS_PORT",
}
OF_THE_ENGINES = {
    *("VICW_NEO4J_URL", "VICW_NEO4J_USER", "VICW_NEO4J_DATABASE", "VICW_NEO4J_PASSWORD", "VICW_NEO4J_PASSWORD_FILE"),
    *("VICW_QDRANT_URL", "VICW_QDRANT_API_KEY", "VICW_QDRANT_API_KEY_FILE"),
    *("VICW_REDIS_URL", "VICW_REDIS_PASSWORD", "VICW_REDIS_PASSWORD_FILE"),
}
OF_THE_EMBEDDER = {"VICW_MAX_BODY_BYTES", "VICW_MAX_BODIES_BYTES"}
OWN_LINES = {
    "embedding": set(OF_THE_EMBEDDER),
    "embedding-next": OF_THE_EMBEDDER | {"VICW_EMBEDDING_MODEL"},
    "retrieval": OF_THE_ENGINES | {"VICW_EMBEDDING_MODEL", "VICW_MCP_INGEST_URL"},
}
"""What the container has a value of its own for, beside what its place demands."""

type Services = dict[str, dict[str, Any]]


@pytest.fixture
def rendered(tmp_path: Path) -> Callable[..., Services]:
    """Return the services with a `.env` of these lines."""
    if shutil.which("docker") is None or subprocess.run(["docker", "compose", "version"], check=False).returncode:
        pytest.skip("Docker Compose is not installed")

    def render(lines: str, *options: str) -> Services:
        shutil.copy(FILE, tmp_path)
        (tmp_path / ".env").write_text(lines, "utf-8")
        done = subprocess.run(
            ["docker", "compose", *options, "--profile", "*", "config", "--format", "json"],
            cwd=tmp_path,
            env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        services: Services = json.loads(done.stdout)["services"]
        return services

    return render


def _env_example_with_all_settings() -> str:
    """Return `.env.example` with every setting set: what has no default, to something."""
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    settings = [line.removeprefix("#") for line in lines if line.startswith("#VICW_")]
    secrets = [f"{name}=/elsewhere" for name in sorted(VARIABLES) if name.endswith("_FILE")]
    return "\n".join([*(f"{line}9100" if line.endswith("=") else line for line in settings), *secrets])


def test_env_example_settings_reach_the_services_except_container_ones(
    rendered: Callable[..., Services],
) -> None:
    lines = _env_example_with_all_settings()
    told = dict(line.split("=", 1) for line in lines.splitlines())
    assert set(told) == VARIABLES
    before, services = rendered(""), rendered(lines)
    for name in SETTLED:
        own = MADE_FOR_CONTAINERS | (
            OWN_LINES[name] if name in OWN_LINES else OF_THE_ENGINES | {"VICW_EMBEDDING_MODEL"}
        )
        own |= {"VICW_METRICS_HOST"} & set(before[name]["environment"])
        own |= set() if name == "vicw" else {"VICW_API_KEY"}
        for variable in sorted(VARIABLES):
            value = services[name]["environment"].get(variable)
            expected = before[name]["environment"].get(variable) if variable in own else told[variable]
            if variable == "VICW_ALLOWED_HOSTS":  # .env adds to the names of the containers
                expected = before[name]["environment"][variable] + told[variable]
            assert value == expected, (name, variable)


def test_the_model_container_does_not_get_the_embedding_servers_secret(rendered: Callable[..., Services]) -> None:
    environment = rendered(_env_example_with_all_settings())["model"]["environment"]
    assert (environment["VICW_EMBEDDING_API_KEY"], environment["VICW_EMBEDDING_API_KEY_FILE"]) == ("", "")
    assert environment["VICW_EMBEDDING_MODELS_DIR"] == "/models"


def test_env_settings_do_not_change_ports_volumes_or_engine_containers(rendered: Callable[..., Services]) -> None:
    before, services = rendered(""), rendered(_env_example_with_all_settings())
    ours = {*SETTLED, "model", "prepare"}
    for name in services.keys() - ours:
        assert services[name] == before[name], name
    for name in services:
        for what in ("ports", "healthcheck", "volumes"):
            assert services[name].get(what) == before[name].get(what), name


def test_only_vicw_containers_read_the_env_file() -> None:
    services = yaml.safe_load(FILE.read_text("utf-8"))["services"]
    assert {name for name, service in services.items() if "env_file" in service} == {*SETTLED, "model"}


def test_env_overrides_the_size_file_when_both_are_read(rendered: Callable[..., Services]) -> None:
    size = ("--env-file", str(ROOT / "deploy/16gb.env"), "--env-file", ".env")
    ingest = rendered("VICW_MAX_BODY_BYTES=1000\nVICW_MAX_ITEMS=7\n", *size)["ingest"]
    wanted = {"VICW_MAX_BODY_BYTES": "1000", "VICW_MAX_BODIES_BYTES": "50331648", "VICW_MAX_ITEMS": "7"}
    assert ingest["environment"].items() >= wanted.items()
    assert int(ingest["mem_limit"]) == 512 * 2**20
