"""The Helm chart: what it says of the services, and, where helm is, that it lints and renders."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from vicw_ingest.app import create_ingest_app
from vicw_retrieval.app import create_retrieval_app
from vicw_shared.settings import HookSettings, LimitSettings, OidcSettings, ServerSettings
from vicw_shared.settings.variables import VARIABLES
from vicw_shared.wire.host_names import Host, parse_hosts

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy/helm/vicw"
ENGINES = ("neo4jUrl=bolt://graph:7687", "qdrantUrl=http://qdrant:6334", "redisUrl=redis://redis:6379/0")
PROBES = {"/healthz", "/readyz", "/metrics"}
GIVEN = [
    *(argument for engine in (*ENGINES, "existingSecret=engines") for argument in ("--set", f"engines.{engine}")),
    *("--set", "ingress.enabled=true", "--set", "ingress.host=memory.test"),
]
NEXT_REQUESTS = {"requests": {"cpu": "2", "memory": "900Mi"}}
NEXT = {
    "model": {"name": "Qwen3-Embedding-0.6B", "existingClaim": "ggufs"},
    "resources": {"limits": {"memory": "2Gi"}},
}


type Objects = list[dict[str, Any]]


def _run(helm: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([helm, *arguments], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def render(helm: str) -> Callable[..., Objects]:
    def template(**values: object) -> Objects:
        """Return the objects of the chart with what it requires and ``values`` besides."""
        more = [part for name, value in values.items() for part in ("--set-json", f"{name}={json.dumps(value)}")]
        done = _run(helm, "template", "memory", str(CHART), "--kube-version", "1.31", *GIVEN, *more)
        assert done.returncode == 0, done.stderr
        return [each for each in yaml.load_all(done.stdout, _Once) if each]

    return template


class _Once(yaml.SafeLoader):
    """Refuses a key that is written twice, as Kubernetes' strict decoding does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(keys) == len(set(keys)), keys
        return super().construct_mapping(node, deep)


@pytest.fixture(scope="module")
def rendered(render: Callable[..., Objects]) -> Objects:
    return render()


def _objects_of_kind(objects: Objects, kind: str) -> dict[str, dict[str, Any]]:
    """Return the objects of a kind by their names, without that of the release."""
    return {each["metadata"]["name"].removeprefix("memory-"): each for each in objects if each["kind"] == kind}


def _pod(deployment: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return pod


def _settings(objects: Objects) -> dict[str, str]:
    data: dict[str, str] = _objects_of_kind(objects, "ConfigMap")["settings"]["data"]
    return data


def _values() -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    return values


def test_the_chart_has_the_services_and_commands_of_docker_compose() -> None:
    catalogue = (CHART / "templates/_helpers.tpl").read_text("utf-8").split("{{- end -}}")[0]
    chart = yaml.safe_load("\n".join(line for line in catalogue.splitlines() if "{{" not in line))
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))["services"]
    assert chart.keys() == _values()["services"].keys()
    for name, what in chart.items():
        default = ["python", "-m", "vicw_embedding"]  # the image's own
        assert what["command"] == compose[name].get("command", default)
        assert compose[name]["image"].startswith(f"vicw-{what['image']}:")


def test_chart_and_compose_versions_match_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
    assert chart["version"] == chart["appVersion"] == version
    assert f"${{VICW_VERSION:-{version}}}" in (ROOT / "docker-compose.yml").read_text("utf-8")


def test_ci_and_contributing_pin_the_same_helm_version() -> None:
    named = re.findall(r"cmd/helm@(v[\d.]+\d)", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert re.findall(r"HELM_VERSION=(\S+)", (ROOT / ".ci/run").read_text("utf-8")) == named


def test_the_chart_lints_without_errors(helm: str) -> None:
    done = _run(helm, "lint", "--strict", str(CHART), *GIVEN)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rendering_without_engines_names_the_missing_values(helm: str) -> None:
    done = _run(helm, "template", "memory", str(CHART), "--kube-version", "1.31")
    assert done.returncode != 0
    assert "engines." in done.stderr


def test_rendered_workloads_are_hardened_and_have_limits(render: Callable[..., Objects]) -> None:
    deployments = _objects_of_kind(render(embeddingNext=NEXT), "Deployment")
    assert deployments.keys() == {*_values()["services"], "embedding-next"}
    for deployment in deployments.values():
        pod = _pod(deployment)
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            context = container["securityContext"]
            assert (context["readOnlyRootFilesystem"], context["runAsNonRoot"]) == (True, True)
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert {each["name"] for each in container["env"] if each["name"].startswith("VICW_")} <= VARIABLES
        assert pod["automountServiceAccountToken"] is False
        assert "limits" in pod["containers"][0]["resources"]


def test_every_service_has_the_embedding_servers_secret(render: Callable[..., Objects]) -> None:
    for deployment in _objects_of_kind(render(embeddingNext=NEXT), "Deployment").values():
        (container,) = _pod(deployment)["containers"]
        (secret,) = [each["valueFrom"] for each in container["env"] if each["name"] == "VICW_EMBEDDING_API_KEY"]
        assert (secret["secretKeyRef"]["name"], secret["secretKeyRef"]["key"]) == ("engines", "embedding-api-key")


def test_values_yaml_lists_every_key_of_the_secret() -> None:
    read = set(re.findall(r'"([a-z0-9-]+-(?:password|key))"', (CHART / "templates/workloads.yaml").read_text("utf-8")))
    told = set(re.findall(r"[a-z0-9-]+-(?:password|key)\b", (CHART / "values.yaml").read_text("utf-8")))
    assert read == told
    assert "embedding-api-key" in read


def test_http_services_have_a_service_autoscaler_and_disruption_budget(rendered: Objects) -> None:
    for kind in ("Service", "HorizontalPodAutoscaler", "PodDisruptionBudget"):
        assert _objects_of_kind(rendered, kind).keys() == {"ingest", "retrieval", "embedding"}


def test_readiness_probes_of_ingest_and_retrieval_do_not_depend_on_engines(rendered: Objects) -> None:
    deployments = _objects_of_kind(rendered, "Deployment")
    probed = {
        name: _pod(deployments[name])["containers"][0]["readinessProbe"]
        for name in _objects_of_kind(rendered, "Service")
    }
    assert {name: probe["httpGet"]["path"] for name, probe in probed.items()} == {
        "ingest": "/healthz",
        "retrieval": "/healthz",
        "embedding": "/readyz",  # which asks no engine
    }


def test_the_next_model_is_served_beside_the_one_in_use(render: Callable[..., Objects]) -> None:
    before, objects = render(), render(embeddingNext=NEXT)
    url = "http://memory-embedding:8080/v1"
    assert _settings(before)["VICW_EMBEDDING_URL"] == url
    assert _settings(objects)["VICW_EMBEDDING_URL"] == f"{url},http://memory-embedding-next:8080/v1"
    deployments, services = _objects_of_kind(objects, "Deployment"), _objects_of_kind(objects, "Service")
    used, following = deployments["embedding"], deployments["embedding-next"]
    for made in (services["embedding-next"], following):
        selector = made["spec"]["selector"]
        assert (
            selector.get("matchLabels", selector).items() <= following["spec"]["template"]["metadata"]["labels"].items()
        )
    assert services["embedding"]["spec"]["selector"] != services["embedding-next"]["spec"]["selector"]
    models = {_model(container) for container in _containers(used)}, {_model(each) for each in _containers(following)}
    assert models == ({_values()["model"]["name"]}, {"Qwen3-Embedding-0.6B"})
    assert _pod(following)["containers"][0]["resources"] == {"limits": {"memory": "2Gi"}, **NEXT_REQUESTS}
    assert {"name": "models", "persistentVolumeClaim": {"claimName": "ggufs"}} in _pod(following)["volumes"]
    others = {name: _pod(each) for name, each in _objects_of_kind(before, "Deployment").items()}
    assert others == {name: _pod(each) for name, each in deployments.items() if name != "embedding-next"}


def test_services_answer_to_their_names_to_the_ingress_and_to_what_settings_add(render: Callable[..., Objects]) -> None:
    objects = render(settings={"VICW_ALLOWED_HOSTS": "memory.internal"}, embeddingNext=NEXT)
    patterns = parse_hosts(_settings(objects)["VICW_ALLOWED_HOSTS"])
    services = [each["metadata"]["name"] for each in objects if each["kind"] == "Service"]
    names = [f"{service}{domain}:8080" for service in services for domain in ("", ".default.svc.cluster.local")]
    (embedding,) = re.findall(r"http://([\w.-]+:8080)/v1$", _settings(objects)["VICW_EMBEDDING_URL"])
    for host in (*names, embedding, "memory.test", "memory.internal"):
        assert any(pattern.matches(Host.parse(host)) for pattern in patterns), host
    assert not any(
        pattern.matches(Host("page.example")) for pattern in parse_hosts(_settings(render())["VICW_ALLOWED_HOSTS"])
    )


def test_the_processes_that_read_imports_fit_the_memory_of_ingest() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    jobs, reader, documents = (
        int(values["settings"][f"VICW_{name}"]) for name in ("IMPORT_JOBS", "IMPORT_MEMORY_MB", "DOCUMENTS_MEMORY_MB")
    )
    assert values["services"]["ingest"]["resources"]["limits"]["memory"] == "1Gi"
    assert 150 + jobs * (reader + documents) <= 1024


def test_the_ingress_leads_each_operation_to_its_service(rendered: Objects) -> None:
    paths: dict[str, tuple[str, str | None]]
    paths = {
        path["path"]: (path["pathType"], path["backend"]["service"]["name"].removeprefix("memory-"))
        for each in rendered
        if each["kind"] == "Ingress"
        for path in _paths(each)
    }

    def service_of(path: str) -> str | None:
        kind, service = paths.get(path, ("", ""))
        return service if kind == "Exact" else paths.get("/" + path.split("/")[1], ("", None))[1]

    wiring: Any = SimpleNamespace(
        settings=SimpleNamespace(
            server=ServerSettings(), limits=LimitSettings(), oidc=OidcSettings(), hooks=HookSettings()
        ),
        queue=SimpleNamespace(probe=None),
    )
    assert service_of("/.well-known/oauth-protected-resource/mcp") == "retrieval"
    for app, service in (
        (create_ingest_app(wiring), "ingest"),
        (create_retrieval_app(wiring), "retrieval"),
    ):
        for path, operations in app.openapi()["paths"].items():
            if path in PROBES:
                assert service_of(path) is None, path
            elif operations.keys() != {"patch"}:  # only its method tells it from a read
                assert service_of(path) == service, path


def test_user_settings_override_chart_settings(render: Callable[..., Objects]) -> None:
    own = {
        "VICW_EMBEDDING_URL": "http://gpu:8000/v1",
        "VICW_TRACES_ENDPOINT": "http://collector:4318",
        "VICW_INGEST_MAX_BACKLOG": 2000000,
        "VICW_QDRANT_ALIAS": "",
    }
    objects = render(settings=own, embeddingNext=NEXT)
    assert _settings(objects).items() >= {name: str(value) for name, value in own.items()}.items()
    assert {"VICW_LOG_FORMAT", "VICW_NEO4J_URL"} <= _settings(objects).keys()
    for deployment in _objects_of_kind(objects, "Deployment").values():
        container = _pod(deployment)["containers"][0]
        assert container["envFrom"] == [{"configMapRef": {"name": "memory-settings"}}]
        assert own.keys().isdisjoint(variable["name"] for variable in container["env"])


def _containers(deployment: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _pod(deployment)["containers"]
    yield from _pod(deployment)["initContainers"]


def _model(container: dict[str, Any]) -> str:
    (model,) = [each["value"] for each in container["env"] if each["name"] == "VICW_EMBEDDING_MODEL"]
    return str(model)


def _paths(ingress: dict[str, Any]) -> list[dict[str, Any]]:
    paths: list[dict[str, Any]] = ingress["spec"]["rules"][0]["http"]["paths"]
    return paths


def test_the_chart_contains_no_password_and_no_latest_tag() -> None:
    text = "".join(path.read_text("utf-8") for path in CHART.rglob("*") if path.is_file())
    assert not re.search(r"(?i)password:\s*\S", text)
    assert not re.search(r":latest\b", text)


def test_embedding_threads_follow_the_cpu_request_unless_set(render: Callable[..., Objects]) -> None:
    def threads(**values: object) -> list[dict[str, Any]]:
        (container,) = _pod(_objects_of_kind(render(**values), "Deployment")["embedding"])["containers"]
        return [each for each in container["env"] if each["name"] == "VICW_EMBEDDING_THREADS"]

    (told,) = threads()
    assert told["valueFrom"]["resourceFieldRef"]["resource"] == "requests.cpu"
    assert threads(settings={"VICW_EMBEDDING_THREADS": 3}) == []
