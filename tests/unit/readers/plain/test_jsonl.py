from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from vicw_readers.intake.limits import limits
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Refused, SourceItem


def write(path: Path, *lines: bytes | str | dict[str, Any]) -> Path:
    encoded = (
        json.dumps(line).encode() if isinstance(line, dict) else line.encode() if isinstance(line, str) else line
        for line in lines
    )
    data = b"\n".join(encoded)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz", "Items.NDJSON"])
def test_jsonl_items_keep_their_own_context_domain_and_flow(tmp_path: Path, name: str) -> None:
    file = write(
        tmp_path / name,
        {"id": "1", "text": "a", "context": "c", "domain": "prose", "flow_id": "f", "speaker": "Ana"},
        "",
        {"text": "b", "timestamp": "2026-01-19T10:00:00Z"},
    )
    first, second = read_paths([file], ImportOptions(domain="general", flow="g"))
    assert isinstance(first, SourceItem)
    assert (first.context, first.domain, first.flow_id, first.item.id) == ("c", "prose", "f", "1")
    assert isinstance(second, SourceItem)
    assert (second.context, second.domain, second.flow_id, second.item.id) == (
        name.split(".")[0],
        "general",
        "g",
        None,
    )
    assert second.line == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "a"', "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"text": ""}', "text: is empty"),
        ("{}", "text: field required. Add it"),
        ('{"text": "a", "relevant": []}', "relevant: extra inputs are not permitted. Remove it, or check its spelling"),
        ('{"text": "a", "metadata": {"x": NaN}}', "NaN is not a JSON number"),
        ('{"text": "a\\u0000"}', "NUL"),
        ('{"text": "a\\ud800"}', "surrogate"),
        ('{"text": "a", "context": 1}', "context: input should be a valid string"),
        ('{"text": "a", "id": 1.5}', "id: input should be a valid string"),
        ('{"text": "a", "timestamp": "2026-01-19"}', "timestamp: "),
        (b'{"text": "\xff"}', "is not valid UTF-8"),
        ("[" * 100_000, "is not JSON"),
        ('{"text": ' + "1" * 5000 + "}", "is not JSON that can be stored"),
    ],
)
def test_a_bad_jsonl_line_is_refused_alone(tmp_path: Path, line: str | bytes, reason: str) -> None:
    file = write(tmp_path / "x.jsonl", {"text": "before"}, line, {"text": "after"})
    before, bad, after = read_paths([file])
    assert isinstance(before, SourceItem)
    assert isinstance(after, SourceItem)
    assert isinstance(bad, Refused)
    assert (bad.path, bad.line) == (str(file), 2)
    assert reason in bad.reason


def test_a_jsonl_line_that_is_too_long_is_refused_alone(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", {"text": "x" * limits().line_bytes}, {"text": "after"})
    bad, after = read_paths([file])
    assert isinstance(bad, Refused)
    assert bad.line == 1
    assert isinstance(after, SourceItem)
    assert after.line == 2


def test_broken_and_empty_files_are_refused(tmp_path: Path) -> None:
    cut = write(tmp_path / "cut.jsonl.gz", *({"text": f"item {n}"} for n in range(2000)))
    cut.write_bytes(cut.read_bytes()[:3000])
    *items, refused = read_paths([cut])
    assert items
    assert isinstance(refused, Refused)
    assert "broken gzip" in refused.reason
    wide = tmp_path / "wide.jsonl"
    wide.write_text('{"text": "a"}', encoding="utf-16")
    empty = write(tmp_path / "empty.jsonl")
    found = list(read_paths([wide, empty, tmp_path / "absent.jsonl"]))
    assert [type(record) for record in found] == [Refused] * 3
    reasons = [record.reason for record in found if isinstance(record, Refused)]
    assert "UTF-16" in reasons[0]
    assert reasons[1:] == ["is empty", "cannot be read: No such file or directory"]


def test_a_number_as_id_is_its_text(tmp_path: Path) -> None:
    (item,) = read_paths([write(tmp_path / "x.jsonl", {"text": "a", "id": 7})])
    assert isinstance(item, SourceItem)
    assert item.item.id == "7"


def test_a_suffix_of_gzip_without_gzip_is_no_matter(tmp_path: Path) -> None:
    (item,) = read_paths([write(tmp_path / "no.jsonl.gz", b"")])
    assert isinstance(item, Refused)
    (tmp_path / "no.jsonl.gz").write_bytes(b'{"text": "a"}')
    (item,) = read_paths([tmp_path / "no.jsonl.gz"])
    assert isinstance(item, SourceItem)


def test_a_byte_order_mark_before_jsonl_is_accepted(tmp_path: Path) -> None:
    (record,) = read_paths([write(tmp_path / "x.jsonl", b'\xef\xbb\xbf{"text": "a"}')])
    assert isinstance(record, SourceItem)
