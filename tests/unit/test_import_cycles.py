"""No module of the product imports itself over others.

Counted is each import statement, inside functions, too. By what is imported it also runs the ``__init__`` of the
packages around that, but for those around the importer, which have begun before it. What stands under TYPE_CHECKING
runs nothing: only the modules it names count.
"""

from collections.abc import Iterable, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGES = (
    "vicw_shared",
    "vicw_core",
    "vicw_stores",
    "vicw_runtime",
    "vicw_client",
    "vicw_ingest",
    "vicw_retrieval",
    "vicw_sleep",
    "vicw_embedding",
    "vicw_english",
    "vicw_standalone",
    "vicw_bench",
)
type Imports = Mapping[str, Iterable[str]]


def imports_in(*packages: str, run: bool) -> Imports:
    """Return what each module imports; ``run``: without what is for type checkers, with the packages that it runs."""
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=run, cache_dir=None)
    named = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    return {module: packages_run_by(module, targets) for module, targets in named.items()} if run else named


def packages_run_by(module: str, targets: Set[str]) -> set[str]:
    return (
        {one for target in targets for one in {target} | parent_packages(target)} - parent_packages(module) - {module}
    )


def parent_packages(module: str) -> set[str]:
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def cycle_in(imports: Imports) -> list[str]:
    """Return the modules of a circle, each imported by the next; none where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("run", [False, True], ids=["named", "run"])
def test_no_module_is_part_of_an_import_cycle(run: bool) -> None:
    imports = imports_in(*PACKAGES, run=run)
    assert "vicw_standalone.wiring" in imports, "an empty graph has no circles"
    assert cycle_in(imports) == []


@pytest.mark.parametrize(
    ("a", "b", "named", "run"),
    [
        ("import {0}.b", "import {0}.a", True, True),
        ("def late() -> None:\n    from {0} import b", "from .a import late", True, True),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {0}.b", "import {0}.a", True, False),
        ("", "from {0}.sub.x import y", False, True),
        ("import {0}.b, {0}.sub.x", "import os", False, False),
    ],
    ids=["plain", "in a function", "for type checkers", "over a package", "none"],
)
def test_each_kind_of_import_cycle_is_found(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    a: str,
    b: str,
    named: bool,
    run: bool,
) -> None:
    name = "circle_" + "".join(filter(str.isalnum, request.node.callspec.id))
    files = {"__init__": "", "a": a, "b": b, "sub/__init__": "from {0} import b", "sub/x": ""}
    (tmp_path / name / "sub").mkdir(parents=True)
    for file, text in files.items():
        (tmp_path / name / f"{file}.py").write_text(text.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    assert bool(cycle_in(imports_in(name, run=False))) == named
    assert bool(cycle_in(imports_in(name, run=True))) == run
