"""The context of a working directory: the project that it is in. Imports the standard library alone."""

from __future__ import annotations

import os
from pathlib import Path

_WORKTREES, _MODULES = "worktrees", "modules"
_POINTER_BYTES = 8192
"""Of the file that ``.git`` is in a linked worktree: one line with a path."""


def folder_context(folder: str) -> str:
    """Return the context of a folder: the name of the Git checkout around it; of a linked worktree, its main one's.

    The empty text for what is no project: outside of a checkout, the home folder and the root of the file system also
    if they are one, and a relative path.
    """
    checkout = checkout_of(folder)
    return checkout.name if checkout is not None else ""


def checkout_of(folder: str) -> Path | None:
    """Return the main checkout of the project that a folder is in; None for what is no project."""
    own = Path(os.path.normpath(folder))
    if not own.is_absolute():
        return None
    around = next((one for one in (own, *own.parents) if os.path.lexists(one / ".git")), None)
    found = _main_checkout(around) if around is not None else None
    return None if found in (None, Path.home(), Path(own.anchor)) else found


def _main_checkout(checkout: Path) -> Path:
    """Return the checkout that a linked worktree belongs to; any other checkout, as a submodule, is its own.

    A worktree's ``.git`` is a file with the path of its folder in the repository: ``gitdir: MAIN/.git/worktrees/NAME``.
    """
    pointer = checkout / ".git"
    try:
        if not pointer.is_file():
            return checkout
        with pointer.open("rb") as file:
            line = os.fsdecode(file.read(_POINTER_BYTES)).strip()
    except OSError:
        return checkout
    folder = Path(os.path.normpath(checkout / line.removeprefix("gitdir:").strip()))
    repository = folder.parent.parent
    if not line.startswith("gitdir:") or folder.parent.name != _WORKTREES or repository.name in ("", _MODULES):
        return checkout
    # of a bare repository, such as NAME.git, there is no main checkout
    return repository.parent if repository.name.startswith(".") else repository.with_name(repository.stem)
