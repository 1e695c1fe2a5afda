"""Every reader is asked about every file, so none may fail on any: here JSON of the names that readers look for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.files.records_of_file import items_in, written
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import ImportOptions, SourceFile
from vicw_readers.registry import READERS

_NAMES = st.sampled_from(
    [
        *("type", "payload", "sessionId", "session_meta", "uuid", "parentUuid", "messages", "chat_messages", "message"),
        *("mapping", "current_node", "chat", "history", "role", "content", "from", "value", "sender", "text", "user"),
        *("project_memories", "conversations_memory", "prompt_template", "header", "title", "time", "products", "name"),
        *("agents", "blocks", "memories", "memory", "results", "id", "guild", "channel", "author", "nodes", "cells"),
        *("conversationId", "conversations", "ts", "metadata", "about", "subtitles", "created_at", "nbformat", "level"),
    ]
)
_WORDS = st.sampled_from(["user", "assistant", "session_meta", "private_chat", "x", ""])
_LEAVES = _WORDS | st.integers(-1, 1) | st.none() | st.booleans()
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=5), max_leaves=12
)


@given(value=_VALUES, name=st.sampled_from(["a.json", "a.jsonl", "a.txt", "projects.json", "a.ipynb", "a.canvas"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_reader_fails_when_it_is_asked_about_json(tmp_path: Path, value: object, name: str) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(value), "utf-8")
    start = FileStart(SourceFile(path, name, "", ImportOptions()))
    for reader in READERS:
        assert reader.recognises(start) in {True, False}


@pytest.mark.parametrize("name", ["schema.json", "schema.txt"])
def test_a_schema_whose_type_is_a_list_is_text(tmp_path: Path, name: str) -> None:
    (item,) = items_in(
        written(tmp_path / name, {"type": ["object", "boolean"], "properties": {"a": {"type": "array"}}})
    )
    assert item.reader == "text"
