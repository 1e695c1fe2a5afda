"""The files of an assistant's export that no reader knows: named, so that they are not taken for texts of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, UnreadableFileError

_CONVERSATIONS = ("conversations.json", "conversations-000.json")
_WORDS = re.compile(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")
"""Two words in a row: ids, addresses and dates have none."""


class OtherPartsReader:
    """JSON of an unknown kind beside the conversations of an export."""

    name = "export-part"
    title = "other part of an assistant's export"
    files = ("sora.json", "tasks.json", "users.json")
    keeps = "nothing: what has no words is passed over, and what has is refused by name"
    leaves = "all of it"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is JSON beside a file of conversations."""
        return (
            start.suffix == ".json"
            and start.base not in _CONVERSATIONS
            and (start.text or "").lstrip()[:1] in {"{", "["}
            and any(map(start.has_beside, _CONVERSATIONS))
        )

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Pass it over if it holds no words, else refuse it."""
        try:
            has_words = _has_words(json.loads(source.text()))
        except (ValueError, RecursionError):
            has_words = True
        if not has_words:
            yield source.skip("is a part of the export without words")
            return
        raise UnreadableFileError(
            "is a part of the export that is not read",
            fix="Move it into another folder and import that, if it is no part of it or is wanted as text",
        )


def _has_words(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_words, value.values()))
    if isinstance(value, list):
        return any(map(_has_words, value))
    return isinstance(value, str) and _WORDS.search(value) is not None
