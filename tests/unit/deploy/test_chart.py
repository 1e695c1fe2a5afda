"""The Helm chart: what it says of the services, and, where helm is, that it lints and renders."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from vicw_shared.settings.variables import VARIABLES

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy/helm/vicw"
ENGINES = ("neo4jUrl=bolt://graph:7687", "qdrantUrl=http://qdrant:6334", "redisUrl=redis://redis:6379/0")
GIVEN = [
    *(argument for engine in (*ENGINES, "existingSecret=engines") for argument in ("--set", f"engines.{engine}")),
    *("--set", "ingress.enabled=true", "--set", "ingress.host=memory.test"),
]


def _helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    helm = shutil.which("helm")
    if helm is None:
        pytest.skip("helm is not installed")
    return subprocess.run([helm, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def rendered() -> list[dict[str, Any]]:
    done = _helm("template", "memory", str(CHART), "--kube-version", "1.31", *GIVEN)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def _values() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return values


def test_it_has_the_services_of_docker_compose_with_the_same_commands() -> None:
    catalogue = (CHART / "templates/_helpers.tpl").read_text("utf-8").split("{{- end -}}")[0]
    chart = yaml.safe_load("\n".join(line for line in catalogue.splitlines() if "{{" not in line))
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    assert chart.keys() == _values()["services"].keys()
    for name, what in chart.items():
        default = ["python", "-m", "vicw_embedding"]  # the image's own
        assert what["command"] == compose[name].get("command", default)
        assert compose[name]["image"].startswith(f"vicw-{what['image']}:")


def test_versions_are_those_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == version
    assert f"${{VICW_VERSION:-{version}}}" in (ROOT / "docker-compose.yml").read_text("utf-8")


def test_it_lints() -> None:
    done = _helm("lint", "--strict", str(CHART), *GIVEN)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_says_what_is_missing() -> None:
    done = _helm("template", "memory", str(CHART), "--kube-version", "1.31")
    assert done.returncode != 0
    assert "engines." in done.stderr


def test_it_renders_hardened_workloads(rendered: list[dict[str, Any]]) -> None:
    deployments = {each["metadata"]["name"]: each for each in rendered if each["kind"] == "Deployment"}
    assert deployments.keys() == {f"memory-{name}" for name in _values()["services"]}
    for deployment in deployments.values():
        pod = deployment["spec"]["template"]["spec"]
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            context = container["securityContext"]
            assert (context["readOnlyRootFilesystem"], context["runAsNonRoot"]) == (True, True)
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert {each["name"] for each in container["env"] if each["name"].startswith("VICW_")} <= VARIABLES
        assert pod["automountServiceAccountToken"] is False
        assert "limits" in pod["containers"][0]["resources"]


def test_every_service_has_the_embedding_servers_secret(rendered: list[dict[str, Any]]) -> None:
    for deployment in (each for each in rendered if each["kind"] == "Deployment"):
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        (secret,) = [each["valueFrom"] for each in container["env"] if each["name"] == "VICW_EMBEDDING_API_KEY"]
        assert (secret["secretKeyRef"]["name"], secret["secretKeyRef"]["key"]) == ("engines", "embedding-api-key")


def test_the_keys_of_the_secret_are_told() -> None:
    read = set(re.findall(r'"([a-z0-9-]+-(?:password|key))"', (CHART / "templates/workloads.yaml").read_text("utf-8")))
    told = set(re.findall(r"[a-z0-9-]+-(?:password|key)\b", (CHART / "values.yaml").read_text("utf-8")))
    assert read == told
    assert "embedding-api-key" in read


def test_what_answers_can_be_reached_probed_and_multiplied(rendered: list[dict[str, Any]]) -> None:
    kinds: dict[str, set[str]] = {}
    for each in rendered:
        kinds.setdefault(each["kind"], set()).add(each["metadata"]["name"])
    doors = {"memory-ingest", "memory-retrieval", "memory-embedding"}
    assert kinds["Service"] == kinds["HorizontalPodAutoscaler"] == kinds["PodDisruptionBudget"] == doors
    paths = [path["path"] for each in rendered if each["kind"] == "Ingress" for path in _paths(each)]
    assert paths == ["/ingest", "/retrieve"]


def _paths(ingress: dict[str, Any]) -> list[dict[str, Any]]:
    paths: list[dict[str, Any]] = ingress["spec"]["rules"][0]["http"]["paths"]
    return paths


def test_no_image_or_secret_is_written_down() -> None:
    text = "".join(path.read_text("utf-8") for path in CHART.rglob("*") if path.is_file())
    assert not re.search(r"(?i)password:\s*\S", text)
    assert not re.search(r":latest\b", text)
