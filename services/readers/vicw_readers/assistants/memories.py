"""Reader of what mem0 and OpenMemory export: memories with their times."""

from __future__ import annotations

from collections.abc import Iterator

from vicw_readers.assistants.conversations import (
    dig,
    digest,
    list_in,
    text_in,
    time_in,
)
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.json_stream import json_values
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import Record, bounded_id

_LISTS = ("results", "memories")
_KEPT = ("categories", "category", "app", "app_name", "agent_id", "run_id", "state")


class MemoriesReader:
    """Memories of mem0 and OpenMemory."""

    name = "mem0"
    title = "mem0 or OpenMemory export"
    files = ("*.json", "memories.json", "memories.jsonl.gz")
    keeps = "each memory with its time, whom it is about, categories and metadata"
    leaves = "memories that are marked as deleted"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether there are memories, or lists of them."""
        return any(_is_memory(one) or any(map(_is_memory, _memories(one))) for one in start.objects)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield the memories."""
        for n, value in enumerate(json_values(source), 1):
            memories = [value] if _is_memory(value) else _memories(value)
            if not memories and not isinstance(dig(value, "results"), list):
                yield source.refuse(f"value {n} is no memory, and no list of them")
            for memory in memories:
                yield _memory(source, memory)


def _memories(value: object) -> list[object]:
    return next((found for key in _LISTS if (found := list_in(value, key))), [])


def _text(value: object) -> str | None:
    return text_in(value, "memory") or text_in(value, "content") or text_in(value, "text")


def _is_memory(value: object) -> bool:
    is_mem0 = text_in(value, "memory") is not None and text_in(value, "id") is not None
    is_open = _text(value) is not None and dig(value, "state") is not None and dig(value, "created_at") is not None
    return is_mem0 or is_open


def _memory(source: SourceFile, value: object) -> Record:
    text = _text(value) or ""
    if text_in(value, "state") == "deleted":
        return source.skip(f"the memory {text[:40]!r} is deleted")
    metadata = dig(value, "metadata") or dig(value, "metadata_")
    kept = {key: found for key in _KEPT if (found := dig(value, key))}
    user = text_in(value, "user_id")
    return source.item(
        {
            "id": bounded_id(text_in(value, "id") or f"memory-{digest(text)}"),
            "text": text,
            "subtype": "memory",
            "timestamp": time_in(value, "created_at"),
            "about": [user] if user else [],
            "source": "mem0",
            "metadata": {**(metadata if isinstance(metadata, dict) else {}), **kept},
        },
        usual_context="mem0",
    )
