"""The files of a folder, in the same order on every run and machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from vicw_readers.intake.git_ignore import BadIgnoreError, GitIgnore
from vicw_readers.records import Noted, Refused, Report, Skipped, shown

_TOOL_FOLDERS = {"node_modules", "__pycache__", "site-packages", "venv", "bower_components"}
_VENDOR_NAMES = {"vendor", "vendored", "third_party", "pods"}
_VENDOR_SIGNS = ("modules.txt", "composer/installed.json", "autoload.php", "Manifest.lock")
"""What package managers of Go, PHP and Swift leave in the folder that they fill."""
_CRATE = ".cargo-checksum.json"
"""What Cargo leaves in each package of such a folder."""
_UNTOLD = "Make it a file that can be read, or remove it: it names what is not to be read"

type _Ignores = tuple[GitIgnore, ...]


def walk(root: Path) -> Iterator[Path | Report]:
    """Yield the files below ``root``, folder by folder, sorted by name.

    Omitted silently: hidden files (they may hold secrets), folders of tools, and what the ``.gitignore`` of a folder
    or ``.git/info/exclude`` names; as in Git, the nearest one decides. What a package manager has put into a folder is
    reported as one. Links are never followed: their targets inside the folder are walked anyway; links out of the
    folder, broken links and unreadable folders are reported.
    """
    root = root.resolve()
    yield from _walk(root, root, ())


def _walk(root: Path, folder: Path, above: _Ignores) -> Iterator[Path | Report]:
    try:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        own = GitIgnore.of(folder)
    except OSError as error:
        yield Refused(shown(folder), None, f"cannot be read: {error.strerror}")
        return
    except BadIgnoreError as error:
        yield Refused(shown(folder), None, f"is not read: {error}", _UNTOLD)
        return
    for file, line, reason in own.problems if own else ():
        yield Noted(shown(file), line, reason)
    ignores = (own, *above) if own else above
    for entry in entries:
        path = Path(entry.path)
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or _is_ignored(path, ignores, is_folder=is_folder):
            continue
        if entry.is_symlink():
            yield from _link(root, path)
        elif is_folder:
            if entry.name in _TOOL_FOLDERS or (path / "pyvenv.cfg").is_file():
                continue
            if _is_vendored(path):
                yield Skipped(shown(path), "is a folder of other people's packages")
            else:
                yield from _walk(root, path, ignores)
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


def _is_ignored(path: Path, ignores: _Ignores, *, is_folder: bool) -> bool:
    decisions = (one.leaves_out(path, is_folder=is_folder) for one in ignores)
    return next((decided for decided in decisions if decided is not None), False)


def _is_vendored(folder: Path) -> bool:
    """Return whether a package manager has filled a folder: it is called so, and has what one leaves."""
    if folder.name.lower() not in _VENDOR_NAMES:
        return False
    try:
        below = [entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    except OSError:  # reported when it is walked
        return False
    return any((folder / sign).is_file() for sign in _VENDOR_SIGNS) or any(
        (folder / name / _CRATE).is_file() for name in below
    )
