"""Drafts of items: label, subtype, name, passages and hash, before version and position are known."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from vicw_ingest.extraction.code.commits import Commit, parse_commit, parse_commits
from vicw_ingest.extraction.code.languages import languages_of_path
from vicw_ingest.extraction.model import ItemText
from vicw_ingest.plan.chunking import split_passages
from vicw_shared.domains import CODING, CREATIVE, GENERAL, canonical
from vicw_shared.model import Label
from vicw_shared.model.core5 import AGENTS
from vicw_shared.model.text_keys import CODE_SUBTYPES, is_verbatim, text_key
from vicw_shared.wire.ingest import IngestRequest, Item

_PROGRAMS = CODE_SUBTYPES - {"commit", "stack_trace"}
_STORY_SUBTYPES = frozenset({"scene", "chapter", "character", "plot", "verse", "poem"})
_HEADLINE_CHARS = 60
CUT = "…"
"""Suffix of a shortened headline."""
_GIT_OUTPUT = re.compile(r"\s*(?:commit [0-9a-f]{7,64}\b|Author: )")
"""Start of a commit as Git prints it."""
_FILE_NAME = re.compile(r"[^\s:]+\.[A-Za-z0-9+]+")


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item with the values derived from the item alone. ``key`` is its natural key inside the context."""

    index: int
    item: Item
    key: str
    label: Label
    subtype: str
    name: str
    domain: str
    flow_id: str | None
    timestamp: datetime | None
    """Time of the event, from the caller or from the item's commit."""
    passages: tuple[str, ...]
    content_hash: str
    verbatim: bool = False

    @property
    def text_key(self) -> str | None:
        """Return the key of the whole text if it has several passages, else None: a passage has a key of its own."""
        return text_key(self.item.text, verbatim=self.verbatim) if len(self.passages) > 1 else None

    @property
    def path(self) -> str:
        """Return the path of the item in the request, for error messages."""
        return f"items[{self.index}]"


def draft_items(
    request: IngestRequest, domain: str, chunk_chars: int, rests: Mapping[int, str] | None = None
) -> list[ItemDraft]:
    """Return a draft of each item, in order. ``domain`` is the canonical domain of the request.

    ``rests`` are shortened texts by item index: only these are stored of their items.
    """
    return [
        _draft(index, item, request, domain, chunk_chars, (rests or {}).get(index))
        for index, item in enumerate(request.items)
    ]


def infer_domain(request: IngestRequest) -> str:
    """Return the domain of a new context: the caller's, else the one of the items' subtypes, else general."""
    if request.domain is not None:
        return canonical(request.domain)
    subtypes = {(item.subtype or "").casefold() for item in request.items}
    if subtypes <= CODE_SUBTYPES:
        return CODING
    if subtypes <= _STORY_SUBTYPES:
        return CREATIVE
    return GENERAL


def source_of(item: Item, domain: str, now: datetime) -> ItemText:
    """Return the extractor's input for an item. ``domain`` is the canonical domain of the request."""
    commit = _authored_commit(item) if item.timestamp is None else None
    return ItemText(
        item.text,
        item.timestamp or _date(commit) or now,
        item.speaker,
        item.name,
        _code_path(item) or item.source,
        may_be_code=_may_be_code(item, domain),
        only_by_name=not _is_program(item, domain),
        is_commit=_is_commit(item),
    )


def speaker_subtype(speaker: str) -> str:
    """Return the subtype of a speaker: ``agent`` for a known program, else ``person``."""
    return "agent" if speaker.casefold() in AGENTS else "person"


def _draft(
    index: int, item: Item, request: IngestRequest, domain: str, chunk_chars: int, rest: str | None
) -> ItemDraft:
    flow_id = item.flow_id if item.flow_id is not None else request.flow_id
    commit = _authored_commit(item)
    timestamp = item.timestamp or _date(commit)
    is_event = item.speaker is not None or item.timestamp is not None or flow_id is not None or commit is not None
    plain = "message" if item.speaker else "commit" if commit is not None else "event" if is_event else "document"
    subtype = item.subtype or plain
    content_hash = _hash(item, flow_id, domain)
    if rest is not None:
        item = item.model_copy(update={"text": rest})
    return ItemDraft(
        index=index,
        item=item,
        key=item.id if item.id is not None else f"anonymous:{uuid.uuid4()}",
        label=Label.EVENT if is_event else Label.ENTITY,
        subtype=subtype,
        name=item.name or _subject(item) or item.speaker or headline(item.text),
        domain=domain,
        flow_id=flow_id,
        timestamp=timestamp,
        passages=tuple(split_passages(item.text, size=chunk_chars, code=_is_code(item, domain))),
        content_hash=content_hash,
        verbatim=is_verbatim(item.speaker, subtype, domain),
    )


def _is_commit(item: Item) -> bool:
    return (item.subtype or "").casefold() == "commit"


def _authored_commit(item: Item) -> Commit | None:
    """Return the commit of an item without a speaker, if its text names an author or co-author, else None."""
    if item.speaker is not None or not (_is_commit(item) or _GIT_OUTPUT.match(item.text)):
        return None
    commits = parse_commits(item.text)
    commit = commits[0] if len(commits) == 1 else None
    if not commits:
        commit = parse_commit(item.text, is_message=_is_commit(item))
    return commit if commit is not None and (commit.author or commit.co_authors) else None


def _date(commit: Commit | None) -> datetime | None:
    return commit.date.astimezone(UTC) if commit is not None and commit.date is not None else None


def _subject(item: Item) -> str | None:
    """Return the first line of a commit's message, or None if the item is no commit."""
    commit = parse_commit(item.text, is_message=True) if _is_commit(item) else _authored_commit(item)
    return headline(commit.subject) if commit is not None and commit.subject else None


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


def _is_code(item: Item, domain: str) -> bool:
    return domain == CODING or (item.subtype or "").casefold() in CODE_SUBTYPES


def headline(text: str) -> str:
    """Return the first words of a text as its display name."""
    line = " ".join(text.split())
    return line if len(line) <= _HEADLINE_CHARS else line[:_HEADLINE_CHARS].rsplit(" ", 1)[0] + CUT


def _hash(item: Item, flow_id: str | None, domain: str) -> str:
    """Return the SHA-256 of all fields that the caller gave. A field with its default counts as not given."""
    given = item.model_dump(mode="json", exclude={"id", "flow_id"}, exclude_defaults=True)
    canonical_json = json.dumps([given, flow_id, domain], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(canonical_json.encode()).hexdigest()


def event_time(draft: ItemDraft, previous_timestamp: datetime | None, now: datetime) -> tuple[datetime | None, bool]:
    """Return the item's timestamp and whether it is inferred.

    An Event without a timestamp keeps that of its earlier version, else gets ``now``. An Entity gets None.
    """
    if draft.timestamp is not None:
        return draft.timestamp, False
    if draft.label is not Label.EVENT:
        return None, False
    return (previous_timestamp, True) if previous_timestamp is not None else (now, True)
