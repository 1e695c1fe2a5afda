"""The root of a package shows its folders: few modules lie loose in it, with the same names in each service."""

from __future__ import annotations

from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_MOST = 10
_COMMON = frozenset({"__main__", "api", "app", "cli", "settings", "wiring", "worker"})
"""What a service may have: its process, its endpoints, its command, its settings, what wires it, its Celery worker."""
_OWN = {
    "vicw_ingest": {"pipeline", "commit"},
    "vicw_retrieval": {"pipeline", "ports"},
    "vicw_sleep": {"beat"},
    "vicw_embedding": {"fetch", "metrics"},
    "vicw_standalone": {"operations", "stores"},
    "vicw_bench": {"filling", "metrics", "report", "runs", "sets", "targets"},
}
"""What else a service's root has: mostly the steps of its use case, in the order in which they run."""

PACKAGES = sorted(path.parent for path in _ROOT.glob("*/vicw_*/__init__.py"))
SERVICES = sorted(path.parent for path in _ROOT.glob("services/*/vicw_*/__init__.py"))


def loose_modules(package: Path) -> set[str]:
    return {file.stem for file in package.glob("*.py")} - {"__init__"}


def test_all_packages_are_looked_at() -> None:
    assert {"vicw_shared", "vicw_client"} <= {package.name for package in PACKAGES}
    assert {"vicw_ingest", "vicw_standalone", "vicw_bench"} <= {package.name for package in SERVICES}


@pytest.mark.parametrize("package", [*PACKAGES, *SERVICES], ids=lambda package: package.name)
def test_few_modules_lie_loose_in_the_root_of_a_package(package: Path) -> None:
    found = loose_modules(package)
    assert len(found) <= _MOST, f"group by feature or role: {sorted(found)}"


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_the_root_of_a_service_has_the_modules_that_one_expects(service: Path) -> None:
    others = loose_modules(service) - _COMMON - _OWN.get(service.name, set())
    assert not others, f"put it into the folder of its feature, or name it here: {sorted(others)}"


def test_no_service_is_said_to_have_what_it_has_not() -> None:
    for service in SERVICES:
        assert _OWN.get(service.name, set()) <= loose_modules(service)
