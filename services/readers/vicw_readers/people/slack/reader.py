"""Reader of Slack's export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.people.slack.directory import CHANNEL_LISTS
from vicw_readers.records import Record, UnreadableFileError

if TYPE_CHECKING:
    from vicw_readers.people.slack.directory import SlackDirectory

_LISTS = {"users.json": "people", **dict.fromkeys(CHANNEL_LISTS, "channels")}
_OWN_KEYS = {"profile", "team_id", "members", "created", "name"}
_MAX_BYTES = 64 * 1024 * 1024
"""A file has the messages of a channel and day; a list of people or channels is as large at most."""
_WITHOUT_LISTS = "is a day of a Slack channel without the lists of its export, which have the names of people"
_WITH_LISTS = "Name the .zip, or the folder with users.json and channels.json; or --format slack, to read ids for names"


class SlackReader:
    """A channel's day of an export, with the names of people and channels from the lists beside its folder."""

    name = "slack"
    title = "Slack export"
    files = ("* Slack export *.zip", "channel/2025-01-31.json")
    keeps = "speaker, time and text, names for ids, links, edits, reactions; a thread is a flow; joins as notices"
    leaves = "files (named in the text), deleted messages, canvases, logs of integrations"
    is_personal = True

    def recognises(self, start: FileStart) -> bool:
        """Return whether a JSON list has messages with Slack's time stamps, or is one of an export's lists."""
        if start.base in _LISTS:
            others = CHANNEL_LISTS if start.base == "users.json" else ("users.json",)
            is_list = start.head.lstrip()[:1] == b"[" and all("id" in one for one in start.objects)
            is_own = not start.objects or any(one.keys() & _OWN_KEYS for one in start.objects)
            return is_list and is_own and any(map(start.has_beside, others))
        return any(_is_message(one) for one in start.objects[:20])

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the messages of a day as items; of a list, only that it is one."""
        from vicw_readers.people.records import records_of
        from vicw_readers.people.slack.messages import slack_messages

        base = PurePosixPath(source.name).name.lower()
        if base in _LISTS:
            yield source.skip(f"lists the {_LISTS[base]}; their names are in the messages")
            return
        folder = PurePosixPath(source.member or source.name).parent.name or source.path.parent.name
        if not any(source.beside(f"../{name}") for name in _LISTS):
            if source.options.format != self.name:
                # Ids stand for names then, and that of the channel is missing: the whole export would say all twice.
                raise UnreadableFileError(_WITHOUT_LISTS, fix=_WITH_LISTS)
            yield source.note(_WITHOUT_LISTS)
        values = _loaded(source)
        yield from records_of(source, slack_messages(values, folder, _directory(source)), self.name, "Slack")


def _is_message(one: dict[str, Any]) -> bool:
    stamp = one.get("ts")
    if not isinstance(stamp, str) or one.get("type") != "message":
        return False
    return stamp.replace(".", "", 1).isdecimal() and ("user" in one or "bot_id" in one or "subtype" in one)


def _loaded(source: SourceFile) -> Any:
    with source.open() as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise UnreadableFileError(f"is larger than {_MAX_BYTES} bytes")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is not JSON: {error}", getattr(error, "lineno", None)) from None


def _directory(source: SourceFile) -> SlackDirectory:
    """Return the names of the export, read once for all its files."""
    found = {name: source.beside(f"../{name}") for name in _LISTS}
    size = sum(one.size for one in found.values() if one is not None)
    place = source.path if source.archive else source.path.parent.parent
    return _read_directory(_Lists({name: one for name, one in found.items() if one is not None}, (place, size)))


class _Lists:
    """The lists of an export; two are equal if they are of one place and size."""

    def __init__(self, files: dict[str, SourceFile], key: tuple[Path, int]) -> None:
        self.files = files
        self._key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lists) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=2)
def _read_directory(lists: _Lists) -> SlackDirectory:
    from vicw_readers.people.slack.directory import slack_directory

    loaded: dict[str, object] = {}
    for name, source in lists.files.items():
        try:
            loaded[name] = _loaded(source)
        except (UnreadableFileError, OSError):
            loaded[name] = []  # ids stand for names then; the list itself is refused where it is read
    users = loaded.pop("users.json", [])
    return slack_directory(users, loaded)
