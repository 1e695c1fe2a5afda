"""Links of a page, and their kinds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkKind(StrEnum):
    """The notation of a link."""

    WIKI = "wiki"
    PATH = "path"
    URL = "url"
    CODE = "code"
    """A name in code marks: a symbol, a path, or an unknown name."""
    IMPORT = "import"
    """A module's name, or the path of a relative import."""


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link; ``target`` is empty for one inside its own page. ``line`` counts from 1; an import has none (0)."""

    kind: LinkKind
    target: str
    line: int
    heading: str | None = None

    @property
    def display(self) -> str:
        """The link in readable form."""
        whole = f"{self.target}#{self.heading}" if self.heading is not None else self.target
        return f"[[{whole}]]" if self.kind is LinkKind.WIKI else whole
