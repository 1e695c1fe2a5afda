"""What `.gitignore` files leave out, compared with Git itself, and files of patterns that nobody should write."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from vicw_readers.intake.git_ignore import MAX_IGNORE_BYTES
from vicw_readers.intake.walk import walk
from vicw_readers.records import Noted, Refused

_PATTERNS = (
    *("*", "!*/", "!*.py", "/a", "a/", "!a/", "a/*", "!a/b", "a/**", "!a/**", "**/b", "b", "!b", "*.py", "!x.py"),
    *("a/b/", "/*", "!/a", "x.py", "/x.py", "**/x.py", "b/*", "!b/x.py", "a/**/x.py", "*/", "!*", "sub", "a//b", "**"),
    *("[xy].*", "[!x]*", "[^y].py", "?.py", "\\x.py", "x.p\\y", "[[:alpha:]].txt", "x.py ", "# x.py", "!", "/", "a\\"),
)
_TREES = 300


def names(root: Path) -> list[str]:
    found = (one.relative_to(root.resolve()).as_posix() for one in walk(root) if isinstance(one, Path))
    return sorted(found)


def write(root: Path, ignored: str | bytes, *files: str) -> Path:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", "utf-8")
    (root / ".gitignore").write_bytes(ignored.encode() if isinstance(ignored, str) else ignored)
    return root


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git, which is not installed")
def test_random_patterns_in_nested_folders_leave_out_what_git_leaves_out(tmp_path: Path) -> None:
    chance = random.Random(1)
    for number in range(_TREES):
        tree = tmp_path / f"t{number}"
        for folder in ("", "a", "a/b", "b", "b/a", "a/b/c"):
            (tree / folder).mkdir(parents=True, exist_ok=True)
            for name in ("x.py", "y.txt"):
                (tree / folder / name).touch()
        for folder in ("", "a", "b"):
            if not folder or chance.random() < 0.3:
                lines = chance.choices(_PATTERNS, k=chance.randint(1, 4))
                (tree / folder / ".gitignore").write_text("\n".join(lines) + "\n", "utf-8")
    git = ("git", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "--others", "--exclude-standard", "-z"], check=True, capture_output=True, text=True
    )
    expected = sorted(name for name in listed.stdout.split("\0") if name and not name.endswith(".gitignore"))
    assert names(tmp_path) == expected


def test_a_line_without_effect_is_noted_and_the_others_count(tmp_path: Path) -> None:
    root = write(tmp_path, "!\na\\\n[\n*.[z-a]\n[[:no:]]\nsecret.txt\n", "secret.txt", "z.txt")
    assert names(root) == ["z.txt"]
    notes = [one for one in walk(root) if isinstance(one, Noted)]
    assert [one.line for one in notes] == [1, 2, 3]
    assert {one.path for one in notes} == {str(root / ".gitignore")}


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_part_of_a_pattern(tmp_path: Path) -> None:
    root = write(tmp_path, b"\xef\xbb\xbfsecret.txt\r\n*.log\r\n", "secret.txt", "a.log", "z.txt")
    assert names(root) == ["z.txt"]


def test_many_stars_take_no_longer_than_few(tmp_path: Path) -> None:
    root = write(tmp_path, "a*" * 60 + "b\n" + "**/a*/" * 30 + "b\n", "a" * 250, "/".join(["a"] * 40) + "/c")
    begun = time.process_time()
    assert len(names(root)) == 2
    assert time.process_time() - begun < 5, "what goes back over each star takes years"


@pytest.mark.parametrize("kind", ["pipe", "link", "long"])
def test_a_folder_whose_patterns_cannot_be_told_is_not_read(tmp_path: Path, kind: str) -> None:
    root = write(tmp_path, "x" * (MAX_IGNORE_BYTES + 1), "a.txt", "b/.gitignore", "b/c.txt")
    if kind != "long":
        (root / ".gitignore").unlink()
    if kind == "pipe":
        os.mkfifo(root / ".gitignore")
    if kind == "link":
        (root / ".gitignore").symlink_to("/dev/zero")
    (refused,) = walk(root)
    assert isinstance(refused, Refused)
    assert "its .gitignore is" in refused.reason
    assert refused.fix
