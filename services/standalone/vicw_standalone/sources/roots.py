"""Which folder a context was named after, so that two folders of one name are not taken for versions of each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


class ContextTakenError(Exception):
    """A folder's name is the context of another folder."""

    def __init__(self, root: Path, other: str) -> None:
        super().__init__(
            f"context {root.name!r} was made of {other}. Give {root} another with --context, or name "
            f"--context {root.name} if it is the same memory"
        )


def claim_contexts(register: Path, store: str, paths: Sequence[Path]) -> None:
    """Note in the file ``register`` the folders whose names become contexts of ``store``.

    Raises ContextTakenError if another folder gave its name before, and notes nothing then; OSError if the
    register cannot be kept.
    """
    roots = [root for root in (path.resolve() for path in paths) if root.is_dir() and root.name]
    known = _read(register)
    for root in roots:
        taken = known.setdefault(f"{store} {root.name}", str(root))
        if taken != str(root):
            raise ContextTakenError(root, taken)
    if roots:
        register.parent.mkdir(parents=True, exist_ok=True)
        new = register.with_suffix(".new")
        new.write_text(json.dumps(known, indent=1, ensure_ascii=False), "utf-8", "surrogatepass")
        new.replace(register)


def _read(register: Path) -> dict[str, str]:
    try:
        known: dict[str, str] = json.loads(register.read_text("utf-8", "surrogatepass"))
    except (FileNotFoundError, ValueError):  # a register that cannot be read protects nobody, and harms nobody
        return {}
    return known
