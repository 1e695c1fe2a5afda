"""The text of an item, with what says whether it is prose, code or a commit."""

from __future__ import annotations

from dataclasses import dataclass

from vicw_shared.model.extraction import SourceText


@dataclass(frozen=True, slots=True)
class ItemText(SourceText):
    """The text of an item.

    ``may_be_code``: treat the text as code if it parses as code. ``only_by_name``: only the name suggests code, and
    prose may have such a name. ``is_commit``: the text is a commit, whatever its form.
    """

    path: str | None = None
    may_be_code: bool = False
    only_by_name: bool = False
    is_commit: bool = False
