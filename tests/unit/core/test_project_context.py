"""The context of a working directory."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vicw_core.project_context import folder_context


def git(folder: Path, *arguments: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=environment)


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def test_it_is_the_innermost_checkout_around_it(tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", tmp_path / "outer/lib/inner"
    (inner / "src").mkdir(parents=True)
    (outer / ".git").mkdir()
    (inner / ".git").write_text("gitdir: ../../.git/modules/worktrees/inner\n")  # of a submodule
    assert folder_context(str(outer / "lib")) == "outer"
    assert folder_context(str(inner / "src")) == folder_context(str(inner)) == "inner"


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the worktrees")
def test_a_linked_worktree_has_the_name_of_its_main_checkout(tmp_path: Path) -> None:
    main = repository(tmp_path / "app")
    git(main, "worktree", "add", "../app-fix", "-b", "fix")
    git(main, "worktree", "add", "trees/deep", "-b", "deep")
    (tmp_path / "app-fix" / "src").mkdir()
    for folder in ("app", "app-fix", "app-fix/src", "app/trees/deep"):
        assert folder_context(str(tmp_path / folder)) == "app", folder
    pointer = tmp_path / "app-fix" / ".git"
    pointer.write_text("gitdir: ../app/.git/worktrees/app-fix\n")  # as worktree.useRelativePaths writes it
    assert folder_context(str(tmp_path / "app-fix")) == "app"


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the worktrees")
def test_a_worktree_of_a_bare_repository_has_the_repositorys_name(tmp_path: Path) -> None:
    repository(tmp_path / "origin")
    git(tmp_path, "clone", "--bare", "origin", "tool.git")
    git(tmp_path / "tool.git", "worktree", "add", "../feature", "-b", "feature")
    git(tmp_path, "clone", "--bare", "origin", "hub/.bare")
    git(tmp_path / "hub/.bare", "worktree", "add", "../one", "-b", "one")
    assert folder_context(str(tmp_path / "feature")) == "tool"
    assert folder_context(str(tmp_path / "hub/one")) == "hub"


@pytest.mark.parametrize(
    "pointer", [b"", b"\xff\xfe", b"worktrees/x/y", b"gitdir:", b"gitdir: /worktrees/x", b"gitdir: " + b"a/" * 9000]
)
def test_a_pointer_that_leads_nowhere_leaves_the_folders_own_name(tmp_path: Path, pointer: bytes) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/.git").write_bytes(pointer)
    assert folder_context(str(tmp_path / "app")) == "app"


def test_what_is_no_project_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    (home / "novel").mkdir(parents=True)
    nothing = [str(home), f"{home}/novel", f"{home}/novel/..", "/", "novel", "", "${workspaceFolder}"]
    assert [folder_context(folder) for folder in nothing] == [""] * len(nothing)
    (home / ".git").mkdir()  # of somebody who versions settings
    assert [folder_context(folder) for folder in nothing] == [""] * len(nothing)
    (home / "novel/.git").mkdir()
    assert folder_context(f"{home}/novel") == "novel"
