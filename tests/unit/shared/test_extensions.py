from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vicw_shared.errors import SettingsError
from vicw_shared.extensions import load_registries
from vicw_shared.model import Label


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Make a package with an entry point, as pip would leave it."""
    (folder / "todo_memory.py").write_text(body)
    info = folder / "todo_memory-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: todo-memory\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vicw.extensions]\ntodo = todo_memory:register\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "todo_memory", raising=False)


def test_an_installed_package_registers_types_and_collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        tmp_path,
        monkeypatch,
        "from vicw_shared.model import Category, EdgeType, Label, NodeCollection\n"
        "def register(edges, collections):\n"
        "    pair = frozenset({(Label.ENTITY, Label.ENTITY)})\n"
        "    edges.register(EdgeType('TODO_OWNED_BY', Category.AGENCY, pair, 0.5))\n"
        "    collections.register(NodeCollection('todos', Label.ENTITY, 'todo'))\n",
    )
    registries = load_registries()
    assert registries.edges.check("TODO_OWNED_BY", Label.ENTITY, Label.ENTITY).weight == 0.5
    assert registries.collections.of(Label.ENTITY, "todo").name == "todos"


def test_a_broken_extension_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "def register(edges, collections):\n    raise ValueError('no licence')\n")
    with pytest.raises(SettingsError, match=r"'todo' \(todo_memory:register\).*no licence"):
        load_registries()
