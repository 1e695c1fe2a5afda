"""Links of a page, before and after it is known where they lead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """How a page says what it means."""

    WIKI = "wiki"
    PATH = "path"
    URL = "url"
    CODE = "code"
    """A name in code marks: a symbol or a path, or nothing that is known."""
    IMPORT = "import"
    """A module's name, or the path that a relative import means."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link; ``target`` is empty for one inside its own page. ``line`` counts from 1; an import has none (0)."""

    kind: LinkKind
    target: str
    line: int
    heading: str | None = None

    @property
    def said(self) -> str:
        """The link as a person reads it."""
        whole = f"{self.target}#{self.heading}" if self.heading is not None else self.target
        return f"[[{whole}]]" if self.kind is LinkKind.WIKI else whole
