"""Drafts of items: label, subtype, name, passages and hash, before version and position are known."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from vicw_ingest.extraction.code.commits import Commit, parse_commit
from vicw_ingest.extraction.item_text import authored_commit, commit_date, is_commit
from vicw_ingest.extraction.own_time import own_time
from vicw_ingest.plan.chunking import split_passages
from vicw_shared.domains import CODING
from vicw_shared.model import Label
from vicw_shared.model.text_keys import CODE_SUBTYPES, is_verbatim, text_key
from vicw_shared.wire.ingest import IngestRequest, Item

_HEADLINE_CHARS = 60
CUT = "…"
"""Suffix of a shortened headline."""


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


@dataclass(frozen=True, slots=True)
class PassageCutter:
    """Cuts texts into passages of ``size`` characters, and keeps them, so that no text is cut twice."""

    size: int
    _kept: dict[tuple[str, bool], tuple[str, ...]] = field(default_factory=dict)

    def cut_ahead(self, request: IngestRequest, domain: str) -> None:
        """Cut the long texts of a request of ``domain``, before a transaction needs their passages under its lock."""
        for item in request.items:
            self.passages(item, domain)

    def passages(self, item: Item, domain: str) -> tuple[str, ...]:
        """Return the passages of an item's text."""
        if len(item.text) <= self.size:
            return (item.text,) if item.text else ()
        key = item.text, _is_code(item, domain)
        if key not in self._kept:
            self._kept[key] = tuple(split_passages(item.text, size=self.size, code=key[1]))
        return self._kept[key]


def draft_items(
    request: IngestRequest,
    domain: str,
    cutter: PassageCutter,
    now: datetime,
    rests: Mapping[int, str] | None = None,
) -> list[ItemDraft]:
    """Return a draft of each item, in order. ``domain`` is the canonical domain of the request.

    ``rests`` are shortened texts by item index: only these are stored of their items.
    """
    return [
        _draft(index, item, request, domain, cutter, now, (rests or {}).get(index))
        for index, item in enumerate(request.items)
    ]


def _draft(
    index: int,
    item: Item,
    request: IngestRequest,
    domain: str,
    cutter: PassageCutter,
    now: datetime,
    rest: str | None,
) -> ItemDraft:
    flow_id = item.flow_id if item.flow_id is not None else request.flow_id
    commit = authored_commit(item)
    own = own_time(item, now) if commit is None else None
    timestamp = item.timestamp or commit_date(commit) or own
    is_event = _is_event(item, flow_id, commit, own)
    subtype = item.subtype or _plain_subtype(item, commit, is_event=is_event)
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
        timestamp=timestamp.astimezone(UTC) if timestamp is not None else None,
        passages=cutter.passages(item, domain),
        content_hash=content_hash,
        verbatim=is_verbatim(item.speaker, subtype, domain),
    )


def default_subtype(item: Item, now: datetime) -> str:
    """Return the subtype of an item for which its caller gives none."""
    commit = authored_commit(item)
    own = own_time(item, now) if commit is None else None
    return _plain_subtype(item, commit, is_event=_is_event(item, item.flow_id, commit, own))


def _is_event(item: Item, flow_id: str | None, commit: Commit | None, own: datetime | None) -> bool:
    # A page of a day stays a page, whether it names the day itself or is called after it.
    has_time = (item.timestamp is not None or own is not None) and item.page is None
    return has_time or item.speaker is not None or flow_id is not None or commit is not None


def _plain_subtype(item: Item, commit: Commit | None, *, is_event: bool) -> str:
    return "message" if item.speaker else "commit" if commit is not None else "event" if is_event else "document"


def _subject(item: Item) -> str | None:
    """Return the first line of a commit's message, or None if the item is no commit."""
    commit = parse_commit(item.text, is_message=True) if is_commit(item) else authored_commit(item)
    return headline(commit.subject) if commit is not None and commit.subject else None


def _is_code(item: Item, domain: str) -> bool:
    return domain == CODING or (item.subtype or "").casefold() in CODE_SUBTYPES


def headline(text: str) -> str:
    """Return the first words of a text as its display name."""
    line = " ".join(text.split(maxsplit=_HEADLINE_CHARS)[:_HEADLINE_CHARS])  # of a long text its first words only
    return line if len(line) <= _HEADLINE_CHARS else line[:_HEADLINE_CHARS].rsplit(" ", 1)[0] + CUT


def _hash(item: Item, flow_id: str | None, domain: str) -> str:
    """Return the SHA-256 of all fields that the caller gave. A field with its default counts as not given."""
    if item.timestamp is not None:  # the same instant of another zone is the same
        item = item.model_copy(update={"timestamp": item.timestamp.astimezone(UTC)})
    given = item.model_dump(mode="json", exclude={"id", "merge", "flow_id"}, exclude_defaults=True)
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
