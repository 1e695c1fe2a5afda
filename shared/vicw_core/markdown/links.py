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
    INCLUDE = "include"
    """The path of a page that is shown inside this one: from its folder, or from the top."""
    BLOCK = "block"
    """The id of a block of any page."""


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
        form = _FORMS.get(self.kind)
        return form.format(whole) if form else whole


_FORMS = {LinkKind.WIKI: "[[{}]]", LinkKind.BLOCK: "(({}))"}
