"""The context of a working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from vicw_core.project_context import folder_context


def test_it_is_the_innermost_checkout_around_it(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer/lib/inner"
    (inner / "src").mkdir(parents=True)
    (outer / ".git").mkdir()
    (inner / ".git").write_text("gitdir: elsewhere\n")  # of a work tree or a submodule
    assert folder_context(str(outer / "lib")) == "outer"
    assert folder_context(str(inner / "src")) == folder_context(str(inner)) == "inner"


def test_outside_of_a_checkout_it_is_the_folder_unless_that_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder_context(f"{tmp_path}/novel/") == "novel"
    assert [folder_context(folder) for folder in (str(tmp_path), f"{tmp_path}/novel/..", "/", "novel", "")] == [""] * 5
