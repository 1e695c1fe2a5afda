"""What the start of a file says: text, lines, and the first objects of JSON that goes on."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_readers.intake.file_start import HEAD_BYTES, FileStart
from vicw_readers.intake.json_start import objects_at_start
from vicw_readers.intake.source_file import SourceFile

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
_OBJECTS = st.dictionaries(st.text(), _JSON, min_size=1, max_size=4)


def start_of(path: Path, data: bytes) -> FileStart:
    path.write_bytes(data)
    return FileStart(SourceFile(path, path.name, "c"))


@given(st.lists(_OBJECTS, min_size=1, max_size=5), st.integers(0), st.sampled_from([None, 1]))
def test_of_json_that_is_cut_off_anywhere_the_first_objects_are_known(
    values: list[dict[str, Any]], at: int, indent: int | None
) -> None:
    text = json.dumps(values, indent=indent)
    found = objects_at_start(text[: at % (len(text) + 1)])
    assert len(found) <= len(values)
    whole = found[:-1]
    assert whole == tuple(values[: len(whole)])
    assert all(found[-1].keys() <= values[len(whole)].keys() for _ in found[-1:])
    assert objects_at_start(text) == tuple(values)


@given(st.text() | st.text(alphabet='{}[]",:a\\ \n'))
def test_no_text_is_too_odd(text: str) -> None:
    objects_at_start(text)
    objects_at_start("{" + text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        ('{"a": 1}\ncut {\n{"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{broken\n{"b": 2}\n', [{"b": 2}]),
        ('{\n "a": {\n  "b": [1, 2', [{"a": {"b": [1]}}]),
        ('{"a": "x, y", "b": "unfin', [{"a": "x, y"}]),
        ('{"a": "br ] ace"}', [{"a": "br ] ace"}]),
        ("[1, 2]", []),
        ('{"name": "a\tb\nc", "messages": [{"id": 1}, ', [{"name": "a\tb\nc", "messages": [{"id": 1}]}]),
        ('{"name": "\\x41na", "messages": []}', [{"name": "Ana", "messages": []}]),
        ('{"messages": [{"id": 1}], "b": "cut [ in an escape \\', [{"messages": [{"id": 1}]}]),
        ('{"a": 1}\n{"b": 2, "picture": "iVBORw0KGgo', [{"a": 1}, {"b": 2}]),
        ("plain {", []),
    ],
)
def test_lines_and_parts_are_objects(text: str, found: list[dict[str, Any]]) -> None:
    assert list(objects_at_start(text)) == found


def test_time_is_linear_in_the_brackets() -> None:
    before = time.process_time()
    assert objects_at_start("[" * HEAD_BYTES) == ()
    assert objects_at_start('{"a":' * (HEAD_BYTES // 5)) == ()
    assert time.process_time() - before < 1


def test_a_head_is_text_up_to_its_last_line(tmp_path: Path) -> None:
    long = start_of(tmp_path / "a.TXT", "zeile ü\n".encode() * 10_000)
    assert (long.base, long.suffix, len(long.head)) == ("a.txt", ".txt", HEAD_BYTES)
    assert set(long.lines) == {"zeile ü"}
    assert start_of(tmp_path / "b.txt", b"no end").text == "no end"
    assert start_of(tmp_path / "c.txt", "ü\n".encode("utf-16")).lines == ("ü",)
    assert start_of(tmp_path / "d.txt", b"a\x00b").text is None
    assert start_of(tmp_path / "d.txt", b"a\x00b").objects == ()
