"""Register of the folders behind contexts: two folders of one name must not be taken for versions of each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path


class ContextTakenError(Exception):
    """The folder's name is already the context of another folder."""

    def __init__(self, root: Path, other: str) -> None:
        super().__init__(
            f"context {root.name!r} belongs to the folder {other}. Give {root} another context with --context, or "
            f"name --context {root.name} to add to that one"
        )


class FolderTakenError(Exception):
    """Another folder already is the knowledge folder of that name: each would retract the other's pages."""

    def __init__(self, root: Path, other: str) -> None:
        super().__init__(
            f"the knowledge folder {root.name!r} of this context belongs to {other}. Give {root} another name with "
            f"--folder, or name --folder {root.name} if the folder has moved"
        )


def claim_contexts(register: Path, store: str, paths: Sequence[Path]) -> None:
    """Record in the file ``register`` the folders whose names become contexts of ``store``.

    Raises ContextTakenError, and records nothing, if another folder has the name already; OSError if the register
    cannot be written.
    """
    roots = [root for root in (path.resolve() for path in paths) if root.is_dir() and root.name]
    _claim(register, {f"{store} {root.name}": root for root in roots}, ContextTakenError)


def claim_folder(register: Path, store: str, context: str, root: Path) -> None:
    """Record a folder as the knowledge folder of its name in a context. Raises FolderTakenError, OSError."""
    root = root.resolve()
    _claim(register, {f"{store} {context} knowledge {root.name}": root}, FolderTakenError)


def _claim(register: Path, roots: Mapping[str, Path], error: type[ContextTakenError] | type[FolderTakenError]) -> None:
    folders = _read(register)
    for name, root in roots.items():
        taken = folders.setdefault(name, str(root))
        if taken != str(root):
            raise error(root, taken)
    if roots:
        register.parent.mkdir(parents=True, exist_ok=True)
        new = register.with_suffix(".new")
        new.write_text(json.dumps(folders, indent=1, ensure_ascii=False), "utf-8", "surrogatepass")
        new.replace(register)


def _read(register: Path) -> dict[str, str]:
    try:
        folders: dict[str, str] = json.loads(register.read_text("utf-8", "surrogatepass"))
    except (FileNotFoundError, ValueError):  # an unreadable register is replaced
        return {}
    return folders
