"""Tests replace nothing private: what they need to vary is an argument or a field of the product."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]


def private_patches(source: str) -> Iterator[str]:
    """Yield the private names that ``setattr`` and ``patch.object`` replace in a source text."""
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] not in {"setattr", "object"}:
            continue
        for argument in call.args[:2]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                name = argument.value.rpartition(".")[2]
                if name.startswith("_") and not name.startswith("__"):
                    yield argument.value


def test_no_test_patches_a_private_name() -> None:
    found = {str(path.relative_to(TESTS)): [*private_patches(path.read_text("utf-8"))] for path in TESTS.rglob("*.py")}
    assert len(found) > 300
    assert {path: names for path, names in found.items() if names} == {}


def test_patches_of_private_names_are_recognised() -> None:
    source = "\n".join([
        'patch.setattr("vicw_runtime.indexes._SECONDS", 1)',
        'monkeypatch.setattr(module, "_page", 1)',
        'mock.patch.object(module, "_page")',
        'monkeypatch.setattr(Standalone, "__init__", None)',
        'monkeypatch.setattr(module, "page", "_page")',
    ])  # fmt: skip
    assert [*private_patches(source)] == ["vicw_runtime.indexes._SECONDS", "_page", "_page"]
