"""The examples in docstrings hold: they are read as contracts."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [*sorted(ROOT.glob("shared/vicw_*/")), ROOT / "client/vicw_client", *sorted(ROOT.glob("services/*/vicw_*/"))]


def _with_examples() -> list[str]:
    """Return the names of the modules that show an example."""
    found = []
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            if ">>> " in path.read_text():
                parts = path.relative_to(package.parent).with_suffix("").parts
                found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


MODULES = _with_examples()


def test_doctests_are_collected_from_every_package() -> None:
    assert len(PACKAGES) == 14
    assert {name.split(".")[0] for name in MODULES} >= {"vicw_shared", "vicw_ingest", "vicw_retrieval"}


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_of_a_module_pass(name: str) -> None:
    module = importlib.import_module(name)
    runner, wrong = doctest.DocTestRunner(verbose=False), list[str]()
    for example in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(example, out=wrong.append)
    assert not wrong, "".join(wrong)
    assert runner.tries == inspect.getsource(module).count(">>> "), "an example stands where nothing runs it"
