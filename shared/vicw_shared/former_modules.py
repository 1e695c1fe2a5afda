"""Where modules of builds before are now: an extension that imports a former name is told the new one."""

from __future__ import annotations

from collections.abc import Mapping

_PACKAGE = __package__
MOVED: Mapping[str, tuple[str, ...]] = {
    "language.analysis": ("vicw_english.tagging.analysis",),
    "language.hashing": ("vicw_english.tagging.hashing",),
    "language.proper_nouns": ("vicw_english.tagging.proper_nouns",),
    "language.tagger": ("vicw_english.tagging.tagger",),
    "language.tokens": ("vicw_english.tagging.tokens", "vicw_shared.text"),
}
"""Former names of modules of this package to the current ones; a package stands for all of its modules."""


def new_place(error: ImportError) -> str | None:
    """Return a sentence with the new place of what an import did not find; None if it has none."""
    names = [error.name or "", f"{error.name}.{error.name_from}"]
    former = next((name for name in names if name.removeprefix(f"{_PACKAGE}.") in MOVED), None)
    if former is None:
        return None
    return f"{former} is now {' and '.join(MOVED[former.removeprefix(f'{_PACKAGE}.')])}"
