"""Notes as people keep them: in Obsidian, Logseq and Notion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from support.files.records_of_file import items_in, written
from vicw_core.markdown.note_marks import inline_tags, without_comments
from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Noted, Record, Refused, Skipped, SourceItem
from vicw_shared.wire.ingest import Item


def records(folder: Path, notes: dict[str, str], options: ImportOptions | None = None) -> list[Record]:
    """Return what is read of a folder with these notes."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return list(read_paths([folder], options))


def items(folder: Path, notes: dict[str, str], options: ImportOptions | None = None) -> dict[str, Item]:
    """Return the items of these notes by their names; nothing may be refused."""
    read = records(folder, notes, options)
    assert not [record for record in read if isinstance(record, Refused)]
    return {record.item.name or "": record.item for record in read if isinstance(record, SourceItem)}


def test_a_section_is_named_by_its_note_where_no_first_heading_names_it(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "Quay west.md": "Before.\n## Status\nShut.\n### Until\nMay.\n",
            "titled.md": "---\ntitle: Quay north\n---\n## Status\nOpen.\n",
            "headed.md": "---\ntitle: Other\n---\n# Quay south\nText.\n## Status\nOpen.\n",
        },
    )
    assert list(found) == [
        "Quay west",
        "Quay west > Status",
        "Quay west > Status > Until",
        "Quay south",
        "Quay south > Status",
        "Quay north > Status",
    ]


def test_properties_and_tags_of_a_note_and_of_its_lines_are_kept(tmp_path: Path) -> None:
    text = (
        "---\ntags: [rope, area/pier]\naliases: [Bollards]\nstatus: open\nlength: 12\n---\n"
        "#splice in `#code`, #2024 and (#area/quay/west)\nload:: 3 t\n```\n#no\nkey:: no\n```\n"
    )
    note = items(tmp_path, {"Ropes.md": text})["Ropes"]
    assert note.tags == ("rope", "area/pier", "area", "splice", "area/quay/west", "area/quay")
    assert note.metadata == {"status": "open", "length": 12, "aliases": ["Bollards"], "load": "3 t"}


@pytest.mark.parametrize(
    ("name", "front", "time"),
    [
        ("2025-03-05.md", "", datetime(2025, 3, 5, 12, tzinfo=UTC)),
        ("journals/2025_03_05.md", "", datetime(2025, 3, 5, 12, tzinfo=UTC)),
        ("2025-03-05 Pier.md", "created: 2024-12-24T18:00", datetime(2024, 12, 24, 18, tzinfo=UTC)),
        ("Pier.md", "date: 2025-03-05 08:30:00+02:00", datetime(2025, 3, 5, 6, 30, tzinfo=UTC)),
        ("2025-03-55.md", "", None),
        ("Pier 2025-03-05.md", "", None),
    ],
)
def test_a_note_has_the_time_it_says(tmp_path: Path, name: str, front: str, time: datetime | None) -> None:
    (note,) = items(tmp_path, {name: f"---\n{front}\n---\nThe pier is shut.\n"}).values()
    assert note.timestamp == time


def test_a_day_alone_is_its_noon_in_the_users_zone(tmp_path: Path) -> None:
    options = ImportOptions(timezone=timezone(timedelta(hours=2)))
    (note,) = items(tmp_path, {"2025-03-05.md": "The pier is shut.\n"}, options).values()
    assert note.timestamp == datetime(2025, 3, 5, 10, tzinfo=UTC)


def test_front_matter_that_is_no_yaml_is_read_and_noted(tmp_path: Path) -> None:
    read = records(tmp_path, {"a.md": "---\ntitle: Ida: the smith\ncreated: {{date}}\n---\nIda works at the forge.\n"})
    noted = [record for record in read if isinstance(record, Noted)]
    (item,) = [record.item for record in read if isinstance(record, SourceItem)]
    assert item.name == "Ida: the smith"
    assert [note.reason for note in noted] == [
        "front matter is no valid YAML; read key by key",
        "'created' of the front matter is a placeholder that was never filled in",
    ]


def test_a_note_of_properties_alone_is_stored_and_an_empty_one_is_passed_over(tmp_path: Path) -> None:
    read = records(tmp_path, {"only.md": "---\nstatus: open\n---\n", "none.md": "", "bare.md": "---\n---\n%% x %%\n"})
    assert [(Path(r.path).name, r.reason) for r in read if isinstance(r, Skipped)] == [
        ("bare.md", "has no text"),
        ("none.md", "is empty"),
    ]
    (item,) = [record.item for record in read if isinstance(record, SourceItem)]
    assert (item.text, item.metadata) == ("status: open\n", {"status": "open"})


def test_comments_are_left_out_and_lines_stay_where_they_are(tmp_path: Path) -> None:
    text = "A %%hidden%% b\n%%\nhidden\n%%\n<!-- hidden -->\n```\n%%shown%%\n```\n# Later\nc %% open\n"
    assert without_comments(text) == "A  b\n\n\n\n\n```\n%%shown%%\n```\n# Later\nc %% open\n"
    read = records(tmp_path, {"a.md": text})
    assert [(r.item.name, r.line) for r in read if isinstance(r, SourceItem)] == [("a", 1), ("Later", 9)]


def test_tags_are_found_outside_code_alone() -> None:
    assert inline_tags("# Head\n#a, #b/c/ #Straße #12 #1a x#no ##no [#d](#no)\n~~~\n#no\n~~~\n> #e\n") == (
        "a",
        "b/c",
        "Straße",
        "1a",
        "d",
        "e",
    )


def test_a_page_of_notion_has_its_title_tags_time_and_properties(tmp_path: Path) -> None:
    text = "# Runbook\n\nOwner: Kai\nTags: ops, pumps\nCreated: March 5, 2025 9:00 AM\n\nPull the lever.\n"
    found = items(tmp_path, {"Runbook c5006330011b4ccb87abe6a6fd94a376.md": text})
    note = found["Runbook"]
    assert (note.tags, note.timestamp) == (("ops", "pumps"), datetime(2025, 3, 5, 9, tzinfo=UTC))
    assert note.metadata == {"owner": "Kai", "created": "March 5, 2025 9:00 AM"}
    assert items(tmp_path / "b", {"Plan.md": text})["Runbook"].metadata == {}


def test_a_namespace_of_logseq_is_a_path_in_the_title(tmp_path: Path) -> None:
    text = "tags:: [[herbs]], green\n\n- Mint is #invasive\n"
    (name,), (note,) = zip(*items(tmp_path, {"pages/garden___mint.md": text}).items(), strict=True)
    assert (name, note.tags, note.metadata) == ("garden/mint", ("herbs", "green", "invasive"), {})


def test_the_words_of_a_drawing_are_its_text(tmp_path: Path) -> None:
    text = (
        "---\nexcalidraw-plugin: parsed\n---\n==Switch to EXCALIDRAW VIEW==\n\n# Text Elements\nPump house ^a1\n\n"
        "Sluice ^b2\n\n## Drawing\n```compressed-json\nN4KAkA\n```\n%%\n"
    )
    assert items(tmp_path, {"Site.excalidraw.md": text})["Site"].text == "Pump house\n\nSluice\n\n"


def test_cards_of_a_canvas_are_items_with_their_group_and_arrows(tmp_path: Path) -> None:
    canvas = """{"nodes": [
        {"id": "g", "type": "group", "label": "Firing", "x": 0, "y": 0, "width": 100, "height": 100},
        {"id": "2", "type": "text", "text": "Cool for a day.", "x": 5, "y": 50},
        {"id": "1", "type": "text", "text": "Heat to cone 6.", "x": 5, "y": 5},
        {"id": "3", "type": "link", "url": "https://kiln.test", "x": 500, "y": 0},
        {"id": "4", "type": "file", "file": "Glaze.md", "x": 0, "y": 0}, {"type": "text"}, 7],
        "edges": [{"fromNode": "1", "toNode": "2"}, {"fromNode": "1", "toNode": "4"}, {"fromNode": "1"}]}"""
    read = [r.item for r in records(tmp_path, {"Kiln.canvas": canvas}) if isinstance(r, SourceItem)]
    assert [(item.id, item.name, item.text) for item in read] == [
        ("Kiln.canvas#3", "Kiln", "https://kiln.test"),
        ("Kiln.canvas#1", "Kiln > Firing", "Heat to cone 6."),
        ("Kiln.canvas#2", "Kiln > Firing", "Cool for a day."),
    ]
    assert read[1].metadata == {"group": "Firing", "leads_to": ["Cool for a day.", "Glaze.md"]}


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.canvas", '{"nodes": [', "is a canvas that is no valid JSON"),
        ("a.canvas", "[]", "is a canvas that is no JSON object"),
        ("a.canvas", '{"nodes": []}', "is a canvas without text of its own"),
        ("a.base", "filters:\n  and: []\n", "is a view of notes, which are read by themselves"),
    ],
)
def test_what_has_no_text_is_told_apart_from_what_is_broken(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (record,) = records(tmp_path, {name: text})
    kind: Any = Skipped if "without" in reason or "view" in reason else Refused
    assert isinstance(record, kind)
    assert record.reason.startswith(reason)


_HASH = "aaaa6330011b4ccb87abe6a6fd94a376"
_CARD = {"id": "1", "type": "text", "text": "Cone six", "x": 0, "y": 0, "width": 9, "height": 9}


@pytest.mark.parametrize(
    ("suffix", "content", "name"),
    [
        ("csv", "Name,Due\nBuy valves,Friday\n", "Tasks > Row 2"),
        ("canvas", {"nodes": [_CARD], "edges": []}, "Tasks"),
        ("srt", "1\n00:00:01,000 --> 00:00:03,000\nThe tide is high.\n", "Tasks, 00:00:01"),
    ],
)
def test_names_of_other_files_of_notion_are_without_its_digits(
    tmp_path: Path, suffix: str, content: object, name: str
) -> None:
    (item,) = items_in(written(tmp_path / f"Tasks {_HASH}.{suffix}", content))
    assert item.item.name == name
