"""What docker-compose.yml promises, read from the file; `make test-compose` runs it."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import grimp
import pytest
import yaml

from vicw_shared.settings.variables import VARIABLES
from vicw_shared.wire.host_names import Host, parse_hosts

ROOT = Path(__file__).parents[3]
ONE_SHOTS = {"prepare", "model", "vicw"}
DOORS = {"ingest", "retrieval"}
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}


def _compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return content


MANIFEST: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = _compose()["services"]
LASTING = {name: service for name, service in SERVICES.items() if name not in ONE_SHOTS}
RUNNING = {name: service for name, service in LASTING.items() if "profiles" not in service}


def _name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def _embedding_image() -> set[str]:
    return set(map(_name, MANIFEST["dependency-groups"]["embedding-image"]))


def _installed_with(names: set[str]) -> set[str]:
    """Return these packages and all that they depend on, by the lock file."""
    locked = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    needs = {package["name"]: {one["name"] for one in package.get("dependencies", ())} for package in locked}
    found: set[str] = set()
    while names:
        found |= names
        names = {need for name in names for need in needs[name]} - found
    return found


def _resolve(text: str, variables: dict[str, str]) -> str:
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda found: variables.get(found[1], found[2]), text)


def _variables(file: str) -> dict[str, str]:
    lines = (ROOT / "deploy" / file).read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _bytes(size: str) -> int:
    return int(size[:-1]) * UNITS[size[-1]]


@pytest.mark.parametrize(("gibibytes", "variables"), [(4, {}), (16, _variables("16gb.env"))])
def test_memory_limits_add_up_to_the_machine(gibibytes: int, variables: dict[str, str]) -> None:
    limits = {name: _bytes(_resolve(service["mem_limit"], variables)) for name, service in RUNNING.items()}
    assert 0.85 * gibibytes * 2**30 < sum(limits.values()) < gibibytes * 2**30
    heap, cache = (
        _bytes(_resolve(SERVICES["neo4j"]["environment"][f"NEO4J_server_memory_{name}"], variables))
        for name in ("heap_max__size", "pagecache_size")
    )
    assert heap + cache < 0.9 * limits["neo4j"], "a virtual machine needs more than its heap"


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_has_a_memory_limit_of_two_gibibytes_at_most(name: str) -> None:
    assert _bytes(_resolve(SERVICES[name]["mem_limit"], {})) <= 2**31


def test_16gb_env_sets_only_variables_that_compose_reads() -> None:
    read = set(re.findall(r"\$\{(\w+):-", (ROOT / "docker-compose.yml").read_text("utf-8")))
    assert set(_variables("16gb.env")) <= read


def test_only_ingest_and_retrieval_are_published_and_on_loopback() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published.keys() & RUNNING.keys() == DOORS
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


@pytest.mark.parametrize("name", SERVICES)
def test_containers_are_read_only_unprivileged_and_without_capabilities(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    ours = service["image"].startswith("vicw-")
    assert name == "prepare" or (ours and "user" not in service) or service["user"] not in {"0", "root"}


def test_vicw_images_run_as_an_unprivileged_user() -> None:
    stages = re.split(r"^FROM ", (ROOT / "deploy/Dockerfile").read_text("utf-8"), flags=re.MULTILINE)
    for stage in stages:
        if " AS embedding\n" in stage or " AS runtime\n" in stage:
            assert re.findall(r"^USER (\w+)$", stage, re.MULTILINE)[-1] == "vicw"


@pytest.mark.parametrize("name", LASTING)
def test_long_running_services_have_health_checks_and_restart(name: str) -> None:
    service = LASTING[name]
    assert service["restart"] == "unless-stopped"
    assert service["healthcheck"]["test"][0] == "CMD"
    assert "start_interval" not in service["healthcheck"]
    for needed, how in service.get("depends_on", {}).items():
        expected = {"service_completed_successfully"} if needed in ONE_SHOTS else {"service_healthy", "service_started"}
        assert how["condition"] in expected


def test_health_checks_of_ingest_and_retrieval_do_not_depend_on_engines() -> None:
    asked = {name: str(LASTING[name]["healthcheck"]["test"]) for name in (*DOORS, "embedding")}
    assert {name for name, test in asked.items() if "'/healthz'" in test} == DOORS
    assert "'/readyz'" in asked["embedding"], "which asks no engine"


@pytest.mark.parametrize("name", SERVICES)
def test_versions_are_pinned_and_can_be_changed(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"[\w/-]+:\$\{\w+:-v?\d[\w.-]*\}", service["image"])
    assert "pull_policy" not in service


def test_no_secret_is_written_down() -> None:
    secrets = {
        (name, variable): value
        for name, service in SERVICES.items()
        for variable, value in service.get("environment", {}).items()
        if re.search("PASSWORD|AUTH|KEY|SECRET|TOKEN", variable)
    }
    assert {"ingest", "retrieval", "sleep-worker", "neo4j"} <= {name for name, _ in secrets}
    for (name, variable), value in secrets.items():
        in_file = variable.endswith("_FILE") and value.startswith("/run/secrets/")
        assert in_file or value in {"", "${VICW_API_KEY:-}"}, f"{name}: {variable}"


def test_secrets_are_made_and_mounted_where_they_are_read() -> None:
    script = (ROOT / "deploy/prepare.sh").read_text("utf-8")
    made = set(re.findall(r"^secret (\w+)$", script, re.MULTILINE)) | {"neo4j_auth"}
    (readable,) = re.findall(r"^chmod 0444 (.*)$", script, re.MULTILINE)
    assert set(readable.split()) == made
    reads = {name: set(re.findall(r"/run/secrets/(\w+)", str(service))) for name, service in SERVICES.items()}
    assert set().union(*reads.values()) >= {"neo4j_password", "redis_password", "embedding_key"}
    for name, service in SERVICES.items():
        read = reads[name]
        assert read <= made, name
        volume = "observers" if "observability" in service.get("profiles", ()) else "secrets"
        assert not read or f"{volume}:/run/secrets:ro" in service["volumes"], name


def test_observability_containers_get_no_passwords_of_neo4j_or_redis() -> None:
    script = (ROOT / "deploy/prepare.sh").read_text("utf-8")
    (shared,) = re.findall(r"^for name in (.*); do$", script, re.MULTILINE)
    jobs = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text("utf-8"))["scrape_configs"]
    files = {Path(job["authorization"]["credentials_file"]).name for job in jobs if "authorization" in job}
    assert set(shared.split()) == (files - {"vicw_metrics_key"}) | {"grafana_password"}
    for service in SERVICES.values():
        if "observability" in service.get("profiles", ()):
            assert not any(str(volume).startswith("secrets") for volume in service["volumes"])


@pytest.mark.parametrize("variables", [{}, _variables("16gb.env")])
def test_bodies_that_ingest_takes_in_fit_its_memory(variables: dict[str, str]) -> None:
    ingest = SERVICES["ingest"]
    one, all_of_them = (
        int(_resolve(ingest["environment"][name], variables))
        for name in ("VICW_MAX_BODY_BYTES", "VICW_MAX_BODIES_BYTES")
    )
    assert one <= all_of_them
    assert 150 * 2**20 + 6.3 * all_of_them < _bytes(_resolve(ingest["mem_limit"], variables))


@pytest.mark.parametrize("variables", [{}, _variables("16gb.env")])
def test_the_processes_that_read_imports_fit_the_memory_of_ingest(variables: dict[str, str]) -> None:
    ingest = SERVICES["ingest"]
    jobs, reader, documents = (
        int(_resolve(ingest["environment"][f"VICW_{name}"], variables))
        for name in ("IMPORT_JOBS", "IMPORT_MEMORY_MB", "DOCUMENTS_MEMORY_MB")
    )
    assert (150 + jobs * (reader + documents)) * 2**20 <= _bytes(_resolve(ingest["mem_limit"], variables))


def test_uploads_go_to_a_disk_of_their_own_not_to_memory() -> None:
    folder = SERVICES["ingest"]["environment"]["VICW_IMPORT_FOLDER"]
    assert f"uploads:{folder}" in SERVICES["ingest"]["volumes"]
    assert "uploads:/volumes/uploads" in SERVICES["prepare"]["volumes"], "it belongs to who uses it"


def test_containers_that_embed_have_the_embedding_servers_secret() -> None:
    ours = {name for name, service in SERVICES.items() if service["image"].startswith("vicw-")}
    file = ("VICW_EMBEDDING_API_KEY_FILE", "/run/secrets/embedding_key")
    having = {name for name, service in SERVICES.items() if file in service.get("environment", {}).items()}
    assert having == ours - {"prepare", "model"}


def test_services_answer_to_the_names_by_which_others_call_them() -> None:
    ours = {name: s for name, s in SERVICES.items() if s["image"].startswith("vicw-") and name not in ONE_SHOTS}
    called = set(
        re.findall(r"http://([\w-]+):8080", str([service.get("environment") for service in SERVICES.values()]))
    )
    jobs = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text("utf-8"))["scrape_configs"]
    scraped = {name for job in jobs for name in job["dns_sd_configs"][0]["names"]} & ours.keys()
    assert called == {"ingest", "retrieval", "embedding", "embedding-next"}
    for name, service in ours.items():
        listed = {pattern.name for pattern in parse_hosts(_resolve(service["environment"]["VICW_ALLOWED_HOSTS"], {}))}
        assert called | scraped == listed, name
        added = _resolve(service["environment"]["VICW_ALLOWED_HOSTS"], {"VICW_ALLOWED_HOSTS": "memory.test"})
        assert Host("memory.test") in {Host(pattern.name, pattern.port) for pattern in parse_hosts(added)}


@pytest.mark.parametrize("name", SERVICES)
def test_every_vicw_variable_in_compose_is_a_setting(name: str) -> None:
    ours = {key for key in SERVICES[name].get("environment", {}) if key.startswith("VICW_")}
    assert ours <= VARIABLES


@pytest.mark.parametrize("name", [name for name, service in LASTING.items() if service["image"].startswith("vicw-")])
def test_tracing_variables_are_passed_through_only_if_set(name: str) -> None:
    environment = LASTING[name]["environment"]
    handed_on = {"VICW_TRACES_ENDPOINT", *(variable for variable in environment if variable.startswith("OTEL_"))}
    assert "OTEL_TRACES_SAMPLER" in handed_on
    assert {environment[variable] for variable in handed_on} == {None}  # to OpenTelemetry an empty one is a wrong one
    assert "OTEL_SERVICE_NAME" not in handed_on, "all services would have the same"


def test_both_images_install_traces_and_the_command_reads_documents() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    (extras,) = re.findall(r'ARG EXTRAS="(.*)"', dockerfile)
    assert "--extra traces" in extras
    assert "--extra documents" in extras
    assert dockerfile.count("${EXTRAS}") == 2
    assert _embedding_image() >= {_name(one) for one in MANIFEST["project"]["optional-dependencies"]["traces"]}


def test_the_images_are_built_from_every_manifest_of_the_workspace() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    members = MANIFEST["tool"]["uv"]["workspace"]["members"]
    assert [name for name in members if f"COPY {name}/pyproject.toml {name}/\n" not in dockerfile] == []


def test_the_embedding_image_has_what_its_programs_import() -> None:
    product = ("vicw_shared", "vicw_core", "vicw_stores", "vicw_runtime", "vicw_embedding")
    graph = grimp.build_graph(*product, include_external_packages=True, cache_dir=None)
    modules = {
        module
        for program in ("vicw_embedding.__main__", "vicw_embedding.fetch")
        for module in graph.find_upstream_modules(program)
    }
    outside = {module for module in modules if not module.startswith("vicw_")} - sys.stdlib_module_names
    assert "fastapi" in outside
    provided = _installed_with(_embedding_image())
    by_module = packages_distributions()
    assert [module for module in sorted(outside) if provided.isdisjoint(map(_name, by_module[module]))] == []


def test_the_embedding_image_gets_nothing_that_vicw_does_not_have() -> None:
    project = MANIFEST["project"]
    known = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    assert _embedding_image() <= set(map(_name, known))


def test_dockerfile_and_scripts_pin_the_same_uv_version() -> None:
    pinned = [
        re.search(r"UV_VERSION=([\d.]+)", (ROOT / file).read_text("utf-8"))
        for file in ("deploy/Dockerfile", "scripts/uv")
    ]
    assert pinned[0] is not None
    assert pinned[1] is not None
    assert pinned[0][1] == pinned[1][1]
