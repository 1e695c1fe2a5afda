"""JSON of any size, value by value."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vicw_readers.intake import json_stream
from vicw_readers.intake.limits import ReadLimits
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import UnreadableFileError

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def values(path: Path, data: bytes) -> list[object]:
    path.write_bytes(data)
    return list(json_stream.json_values(SourceFile(path, path.name, "c")))


@given(
    st.lists(_JSON, max_size=6),
    st.sampled_from([None, 1]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_a_list_is_its_elements_in_any_encoding(
    tmp_path: Path, given: list[Any], indent: int | None, ascii_only: bool, encoding: str
) -> None:
    text = json.dumps(given, indent=indent, ensure_ascii=ascii_only)
    assert values(tmp_path / "x.json", text.encode(encoding, "surrogatepass")) == given


def test_lines_and_single_values_are_values(tmp_path: Path) -> None:
    assert values(tmp_path / "x", b'{"a": 1}\n{"a": 2}\n\n3') == [{"a": 1}, {"a": 2}, 3]
    assert values(tmp_path / "x", b' {"a": [1, 2]} ') == [{"a": [1, 2]}]
    assert values(tmp_path / "x", b"") == []
    assert values(tmp_path / "x", b"[1, [2]]\n[3]\n") == [1, [2], 3], "a list that was appended to the first"


def test_the_line_is_counted_once_however_often_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'[1,\n"\n' + b"x" * 600_000 + b'",\n\n3]')
    with path.open("rb") as file:
        cursor = json_stream.JsonCursor(file)
        lines = [(cursor.peek(), cursor.line, cursor.line, cursor.value())[1:3] for _ in cursor.elements()]
    assert lines == [(1, 1), (2, 2), (5, 5)]
    path.write_text("[" + '"' + "x" * 8_000_000 + '"' + ",\n1" * 5_000 + "]", "utf-8")
    with path.open("rb") as file:
        cursor = json_stream.JsonCursor(file)
        begun = time.process_time()
        last = [(cursor.value(), cursor.line)[1] for _ in cursor.elements()][-1]
    assert last == 5_001
    assert time.process_time() - begun < 5, "counted from the start of what is held, it takes minutes"


@pytest.mark.parametrize(
    ("data", "line", "reason"),
    [
        (b'[{"a": 1},\n{"b": }]', 2, "Expecting value"),
        (b'[{"a": 1},\n{"b": 2}', 2, "is cut off"),
        (b'[{"a": 1},\n{"b": 2} {', 2, "',' is missing"),
        (b'[1,\n2,\n"cut', 3, "Unterminated string"),
        (b"[" * 100_000, 1, "nested too deeply"),
        (b"[1" + b"1" * 5000 + b"]", 1, "digit"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(tmp_path: Path, data: bytes, line: int, reason: str) -> None:
    with pytest.raises(UnreadableFileError, match=reason) as raised:
        values(tmp_path / "x.json", data)
    assert raised.value.line == line


def test_bytes_that_are_no_text_spoil_their_value_alone(tmp_path: Path) -> None:
    assert values(tmp_path / "x.json", b'[{"a": "\xff"}, {"a": "b"}]') == [{"a": "\udcff"}, {"a": "b"}]


def test_escapes_and_commas_that_programs_write_are_read(tmp_path: Path) -> None:
    assert values(tmp_path / "x.json", b'[{"a": "\\x41\\\\x41"},\n{"b": "tab\there"},\n]') == [
        {"a": "A\\x41"},
        {"b": "tab\there"},
    ]
    assert values(tmp_path / "y.json", b'{"a": 1},\n{"a": 2},\n') == [{"a": 1}, {"a": 2}]


def test_a_long_list_takes_the_memory_of_one_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    with path.open("w") as file:
        file.write("[")
        file.writelines(f"{',' if n else ''}{json.dumps({'n': n, 'text': 'é{[' * 3000})}" for n in range(1500))
        file.write("]")
    assert path.stat().st_size > 25_000_000
    tracemalloc.start()
    count = sum(1 for _ in json_stream.json_values(SourceFile(path, path.name, "c")))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1500
    assert peak < 12_000_000
    monkeypatch.setattr(json_stream, "limits", lambda: ReadLimits(value_chars=1_000_000))
    with pytest.raises(UnreadableFileError, match="over 1000000 characters"):
        values(path, b'["' + b"a" * 5_000_000 + b'"]')
