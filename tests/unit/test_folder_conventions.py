"""Each service has the same file names, and each feature is a folder in which a role has one name.

Which libraries a role may use is a contract of the import rules (``lint-imports``); what the workers find in modules
``tasks`` is tested with them (``tests/unit/deploy/test_tasks.py``).
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LOOSE_FILES = 10
SERVICE_FILES = {"__main__", "api", "app", "settings", "wiring", "worker"}
OWN_FILES = {
    "bench": {"cli", "filling", "metrics", "report", "runs", "sets", "targets"},
    "embedding": {"fetch", "metrics"},
    "english": {"agents", "aliases", "causes", "cues", "extractor", "names", "noun_phrases"},
    "ingest": {"commit", "pipeline", "telemetry"},
    "page": set(),
    "readers": {"formats", "paths", "port", "records", "registry"},
    "retrieval": {"pipeline", "ports"},
    "sleep": {"beat"},
    "standalone": {"operations", "scheduled_jobs"},
}
"""What a service has beside the files that each may have: its use case, and programs of its own."""
OTHER_NAMES = {
    "commands": "cli",
    "endpoints": "api",
    "helpers": "what it does",
    "manager": "what it does",
    "models": "model",
    "router": "api",
    "routes": "api",
    "schemas": "model",
    "services": "service",
    "task": "tasks",
    "types": "model",
    "use_case": "service",
    "utils": "what it does",
}
PACKAGES = [
    package
    for parent in (*sorted((ROOT / "services").iterdir()), ROOT / "shared", ROOT / "client")
    for package in sorted(parent.glob("vicw_*"))
    if (package / "__init__.py").exists()
]
SERVICES = {one.name.removeprefix("vicw_"): one for one in PACKAGES if one.parents[1].name == "services"}
MODULES = [file for package in SERVICES.values() for file in sorted(package.rglob("*.py"))]


def modules_named(name: str) -> list[Path]:
    return [file for file in MODULES if file.stem == name]


def loose_files(package: Path) -> set[str]:
    return {file.stem for file in package.glob("*.py")} - {"__init__"}


def test_the_tree_is_read() -> None:
    assert {"ingest", "retrieval", "sleep", "embedding", "standalone"} <= SERVICES.keys()
    assert len(MODULES) > 400


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.name)
def test_the_root_of_a_package_has_few_loose_files(package: Path) -> None:
    assert len(loose_files(package)) <= MOST_LOOSE_FILES


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_services_have_the_same_file_names(service: str) -> None:
    assert loose_files(SERVICES[service]) - SERVICE_FILES == OWN_FILES[service]


def test_what_runs_in_the_background_is_the_service_of_its_folder() -> None:
    background = modules_named("tasks") + modules_named("job")
    assert [file for file in background if not (file.parent / "service.py").exists()] == []


def test_a_role_has_one_name() -> None:
    named = [file for file in MODULES if file.stem in OTHER_NAMES]
    assert [f"{file.relative_to(ROOT)}: {OTHER_NAMES[file.stem]}" for file in named] == []


@pytest.mark.parametrize("file", modules_named("model"), ids=lambda file: "/".join(file.parts[-4:-1]))
def test_a_model_waits_for_nothing(file: Path) -> None:
    assert not [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.AsyncFunctionDef)]


def test_a_port_only_declares() -> None:
    kept = (ast.ClassDef, ast.Import, ast.ImportFrom, ast.If, ast.Expr, ast.Assign, ast.AnnAssign, ast.TypeAlias)
    for file in modules_named("port"):
        body = ast.parse(file.read_text("utf-8")).body
        assert [ast.unparse(node) for node in body if not isinstance(node, kept)] == []


@pytest.mark.parametrize("file", modules_named("tasks"), ids=lambda file: "/".join(file.parts[-4:-1]))
def test_a_module_of_tasks_declares_tasks(file: Path) -> None:
    functions = [
        node
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
    ]
    assert functions
    assert [function.name for function in functions if not function.decorator_list] == []
