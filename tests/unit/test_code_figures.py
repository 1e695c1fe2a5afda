"""Names of modules and classes: what scripts/code_figures.py measures stays within its limits."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_ROOT = Path(__file__).resolve().parents[2]
_SCRIPT = _ROOT / "scripts" / "code_figures.py"


@pytest.fixture(scope="module")
def code_figures() -> ModuleType:
    spec = importlib.util.spec_from_file_location("code_figures", _SCRIPT)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_are_named_by_nouns(code_figures: ModuleType) -> None:
    found = code_figures.measure(_ROOT)
    assert len(found.modules) > 500
    assert len(found.gerunds) / len(found.modules) < 0.04, found.gerunds


def test_no_two_public_classes_share_a_name(code_figures: ModuleType) -> None:
    assert code_figures.measure(_ROOT).public_shared_names == {}


def test_code_figures_measures_modules_class_names_and_dialect(code_figures: ModuleType, tmp_path: Path) -> None:
    package = tmp_path / "shared" / "pkg"
    package.mkdir(parents=True)
    (package / "placing.py").write_text('"""Somebody tells of it."""\n\n\nclass Told:\n    pass\n')
    (package / "wiring.py").write_text("class Told:\n    pass\n\n\nclass _Own:\n    pass\n")
    (package / "bench").mkdir()
    (package / "bench" / "running.py").write_text("class Told:\n    pass\n")
    (tmp_path / "README.md").write_text("Two words, 3 numbers 4\n")
    found = code_figures.measure(tmp_path)
    assert (found.lines, len(found.modules), found.gerunds) == (11, 2, ("shared/pkg/placing.py",))
    assert list(found.public_shared_names) == ["Told"]
    assert len(found.public_shared_names["Told"]) == 2
    assert [line.split()[-1] for line in found.dialect] == ["Somebody", "of"]
    assert (found.readme_words, found.readme_numbers) == (5, 2)
