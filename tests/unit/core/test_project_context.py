"""The context of a working directory."""

from __future__ import annotations

from pathlib import Path

from vicw_core.project_context import project_context


def test_it_is_the_innermost_checkout_around_it(tmp_path: Path) -> None:
    assert project_context(tmp_path) is None
    outer, inner = tmp_path / "outer", tmp_path / "outer/lib/inner"
    (inner / "src").mkdir(parents=True)
    (outer / ".git").mkdir()
    (inner / ".git").write_text("gitdir: elsewhere\n")  # of a work tree or a submodule
    assert project_context(outer / "lib") == "outer"
    assert project_context(inner / "src") == project_context(inner) == "inner"
