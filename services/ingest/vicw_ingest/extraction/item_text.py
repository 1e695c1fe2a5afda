"""The text of an item as it is extracted from, and the domain of a request, which decides what may be code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_core.code.languages import languages_of_path
from vicw_ingest.extraction.code.commits import Commit, parse_commit, parse_commits
from vicw_ingest.extraction.own_time import own_time
from vicw_shared.domains import CODING, CREATIVE, GENERAL, canonical
from vicw_shared.model import Node
from vicw_shared.model.extraction import SourceText
from vicw_shared.model.text_keys import CODE_SUBTYPES
from vicw_shared.wire.ingest import IngestRequest, Item

_PROGRAMS = CODE_SUBTYPES - {"commit", "stack_trace"}
_STORY_SUBTYPES = frozenset({"scene", "chapter", "character", "plot", "verse", "poem"})
_GIT_OUTPUT = re.compile(r"\s*(?:commit [0-9a-f]{7,64}\b|Author: )")
"""Start of a commit as Git prints it."""
_FILE_NAME = re.compile(r"[^\s:]+\.[A-Za-z0-9+]+")


@dataclass(frozen=True, slots=True)
class ItemText(SourceText):
    """The text of an item, with what says whether it is prose, code or a commit.

    ``may_be_code``: treat the text as code if it parses as code. ``only_by_name``: only the name suggests code, and
    prose may have such a name. ``is_commit``: the text is a commit, whatever its form.
    """

    path: str | None = None
    may_be_code: bool = False
    only_by_name: bool = False
    is_commit: bool = False


def domain_of(request: IngestRequest, root: Node | None) -> str:
    """Return a request's domain: the caller's, else that of its context's ``root``, else one that its subtypes suggest.

    It is decided twice. Extraction needs it, and is too slow for the context's lock, so it reads the root without one.
    Another request may create the context meanwhile, so planning decides again under the lock: that one is stored.
    """
    if request.domain is not None:
        return canonical(request.domain)
    if root is not None:
        return root.domain
    subtypes = {(item.subtype or "").casefold() for item in request.items}
    if subtypes <= CODE_SUBTYPES:
        return CODING
    if subtypes <= _STORY_SUBTYPES:
        return CREATIVE
    return GENERAL


def text_of(item: Item, domain: str, now: datetime, day_first: bool | None = None) -> ItemText:
    """Return the extractor's input for an item. ``domain`` is the domain of the request (``domain_of``)."""
    commit = authored_commit(item) if item.timestamp is None else None
    return ItemText(
        item.text,
        item.timestamp or commit_date(commit) or own_time(item, now) or now,
        item.speaker,
        item.name,
        day_first,
        _code_path(item) or item.source,
        may_be_code=_may_be_code(item, domain),
        only_by_name=not _is_program(item, domain),
        is_commit=is_commit(item),
    )


def is_commit(item: Item) -> bool:
    """Return whether the caller calls the item a commit."""
    return (item.subtype or "").casefold() == "commit"


def authored_commit(item: Item) -> Commit | None:
    """Return the commit of an item without a speaker, if its text names an author or co-author, else None."""
    if item.speaker is not None or not (is_commit(item) or _GIT_OUTPUT.match(item.text)):
        return None
    commits = parse_commits(item.text)
    commit = commits[0] if len(commits) == 1 else None
    if not commits:
        commit = parse_commit(item.text, is_message=is_commit(item))
    return commit if commit is not None and (commit.author or commit.co_authors) else None


def commit_date(commit: Commit | None) -> datetime | None:
    """Return the time of a commit in UTC, if there is one and it has a time."""
    return commit.date.astimezone(UTC) if commit is not None and commit.date is not None else None


def _may_be_code(item: Item, domain: str) -> bool:
    """Return whether a whole text may be source code: no speaker, and a subtype, path or domain of code."""
    return item.speaker is None and (_is_program(item, domain) or _code_path(item) is not None)


def _is_program(item: Item, domain: str) -> bool:
    if (item.subtype or "").casefold() in _PROGRAMS or domain == CODING:
        return True
    return item.source is not None and bool(languages_of_path(item.source))


def _code_path(item: Item) -> str | None:
    """Return the path of a source file from an item's ``source``, ``name`` or ``id``, or None."""
    if item.source is not None and languages_of_path(item.source):
        return item.source
    names = (name for name in (item.name, item.id) if name is not None and _FILE_NAME.fullmatch(name))
    return next((name for name in names if languages_of_path(name)), None)
