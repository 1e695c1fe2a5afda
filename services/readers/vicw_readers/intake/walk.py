"""The files of a folder, in the same order on every run and machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pathspec

from vicw_readers.records import Refused, Skipped, shown

_TOOL_FOLDERS = {"node_modules", "__pycache__", "site-packages", "venv", "bower_components"}


def walk(root: Path) -> Iterator[Path | Refused | Skipped]:
    """Yield the files below ``root``, folder by folder, sorted by name.

    Omitted silently: hidden files (they may hold secrets), folders of tools, and files that the root's .gitignore
    names. Links are never followed: their targets inside the folder are walked anyway; links out of the folder, broken
    links and unreadable folders are reported.
    """
    root = root.resolve()
    yield from _walk(root, root, _ignored(root))


def _walk(root: Path, folder: Path, ignored: pathspec.GitIgnoreSpec) -> Iterator[Path | Refused | Skipped]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
    except OSError as error:
        yield Refused(shown(folder), None, f"cannot be read: {error.strerror}")
        return
    for entry in entries:
        path = Path(entry.path)
        name = path.relative_to(root).as_posix()
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or ignored.match_file(name + "/" * is_folder):
            continue
        if entry.is_symlink():
            yield from _link(root, path)
        elif is_folder:
            if entry.name not in _TOOL_FOLDERS and not (path / "pyvenv.cfg").is_file():
                yield from _walk(root, path, ignored)
        elif entry.is_file(follow_symlinks=False):
            yield path
        else:
            yield Skipped(shown(path), "is neither a file nor a folder")


def _link(root: Path, path: Path) -> Iterator[Refused | Skipped]:
    try:
        target = path.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        yield Refused(shown(path), None, f"is a broken link: {shown(path.readlink())} does not exist")
        return
    except (OSError, RuntimeError):  # RuntimeError: a loop of links
        yield Refused(shown(path), None, "is a link that cannot be followed")
        return
    if target.is_relative_to(root):
        yield Skipped(shown(path), "is a link to a place inside the folder")
    else:
        yield Refused(shown(path), None, "is a link that leads out of the folder")


def _ignored(root: Path) -> pathspec.GitIgnoreSpec:
    try:
        lines = (root / ".gitignore").read_text("utf-8", "replace").splitlines()
        return pathspec.GitIgnoreSpec.from_lines(lines)
    except (OSError, ValueError):  # no such file, or an invalid pattern
        return pathspec.GitIgnoreSpec.from_lines([])
