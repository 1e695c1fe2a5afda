"""Readers of documents that are text: tables, notebooks, subtitles, exports of notes, and markups."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vicw_readers.intake.limits import limits
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem


def read(folder: Path, name: str, text: str) -> list[Record]:
    (folder / name).write_text(text, "utf-8")
    return list(read_paths([folder / name]))


def items(records: list[Record]) -> list[SourceItem]:
    assert all(isinstance(record, SourceItem) for record in records), records
    return [record for record in records if isinstance(record, SourceItem)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_rows_of_csv_repeat_their_header(tmp_path: Path, delimiter: str) -> None:
    rows = [["Ship", "Built"], *([f"Gannet {n}", str(1900 + n)] for n in range(200))]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    groups = items(read(tmp_path, "fleet.csv", text))
    assert len(groups) > 2
    assert all(one.item.text.startswith("Ship | Built\nGannet") for one in groups)
    assert sum(one.item.text.count("Gannet") for one in groups) == 200
    assert groups[0].item.metadata["row"] == 2
    assert groups[-1].item.metadata["row_to"] == 201


def test_csv_without_a_header_repeats_none(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, "tides.csv", "2024-03-01,4.1\n2024-03-02,4.3\n"))
    assert one.item.text == "2024-03-01 | 4.1\n2024-03-02 | 4.3"


def test_a_cell_may_be_a_page_long(tmp_path: Path) -> None:
    found = items(read(tmp_path, "fleet.csv", f'Ship,Remark\nGannet,"{"dry " * 50_000}"\n'))
    assert sum(one.item.text.count("dry") for one in found) == 50_000


def test_rows_keep_their_ids_when_the_table_grows(tmp_path: Path) -> None:
    rows = [f"Gannet,{n}\n" for n in range(1900, 2000)]
    before = items(read(tmp_path, "fleet.csv", "Ship,Built\n" + "".join(rows[:-1])))
    after = items(read(tmp_path, "fleet.csv", "Ship,Built\n" + "".join(rows)))
    assert [one.item.id for one in before] == [one.item.id for one in after]
    assert before[0].item.id == "fleet.csv#rows-2"


def test_a_quoted_line_end_stays_in_its_row(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, "fleet.csv", 'Ship,Remark\nGannet,"old\nbut dry"\n'))
    assert one.item.text == "Ship | Remark\nGannet | old but dry"


def notebook(*cells: dict[str, object]) -> str:
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": list(cells)})


def test_a_notebook_is_cut_at_its_headings(tmp_path: Path) -> None:
    code: dict[str, object] = {
        "cell_type": "code",
        "source": ["tides.mean()\n", "# not a heading"],
        "outputs": [{"output_type": "execute_result", "data": {"text/plain": ["4.2"], "image/png": "AAAA"}}],
    }
    text = notebook(
        {"cell_type": "markdown", "source": "# Tides\nMeasured."}, code, {"cell_type": "markdown", "source": "## Wind"}
    )
    tides, wind = items(read(tmp_path, "sea.ipynb", text))
    assert (tides.item.id, tides.item.name) == ("sea.ipynb#tides", "sea > Tides")
    assert "```python\ntides.mean()\n# not a heading\n```\n\n```text\n4.2\n```" in tides.item.text
    assert (wind.item.name, "AAAA" in tides.item.text) == ("sea > Tides > Wind", False)


def test_a_notebook_that_is_too_large_is_refused_with_a_way_out(tmp_path: Path) -> None:
    outputs = [{"output_type": "display_data", "data": {"image/png": "A" * limits().text_bytes}}]
    [refusal] = read(tmp_path, "sea.ipynb", notebook({"cell_type": "code", "source": "tides", "outputs": outputs}))
    assert isinstance(refusal, Refused)
    assert "too large" in refusal.reason
    assert "outputs" in refusal.fix


def test_a_broken_notebook_is_refused(tmp_path: Path) -> None:
    [refusal] = read(tmp_path, "sea.ipynb", notebook()[:-5])
    assert isinstance(refusal, Refused)
    assert "notebook" in refusal.reason


SRT = """1
00:00:01,000 --> 00:00:03,000
ANA: The tide is <i>high</i>

2
00:00:03,500 --> 00:00:05,000
and rising.

3
00:00:05,500 --> 00:00:07,000
BO: Cast off!

4
00:02:00,000 --> 00:02:02,000
Silence.
"""


def test_subtitles_are_turns_with_their_times(tmp_path: Path) -> None:
    pieces = items(read(tmp_path, "film.srt", SRT))
    assert [(one.item.speaker, one.item.text, one.item.metadata["start"]) for one in pieces] == [
        ("ANA", "The tide is high and rising.", "00:00:01"),
        ("BO", "Cast off!", "00:00:05"),
        (None, "Silence.", "00:02:00"),
    ]
    assert [(one.item.flow_id, one.item.flow_step) for one in pieces] == [("film.srt", n) for n in (1, 2, 3)]


def test_web_subtitles_name_voices(tmp_path: Path) -> None:
    text = "WEBVTT\n\nNOTE no cue\n\n00:01.000 --> 00:03.000 align:start\n<v Ana Lee>Tide &amp; wind\n"
    [one] = items(read(tmp_path, "film.vtt", text))
    assert (one.item.speaker, one.item.text, one.item.metadata["end"]) == ("Ana Lee", "Tide & wind", "00:00:03")


def test_two_who_speak_in_one_second_have_two_ids(tmp_path: Path) -> None:
    cue = "00:00:01,{0}00 --> 00:00:02,000\n{1}: Cast off!\n\n"
    text = "".join(f"{n}\n" + cue.format(n, name) for n, name in enumerate(("Ana", "Bo", "Cy"), 1))
    pieces = items(read(tmp_path, "film.srt", text))
    assert [one.item.id for one in pieces] == [f"film.srt#t=00:00:01{again}" for again in ("", ".2", ".3")]


def enex(*notes: str) -> str:
    return (
        f'<?xml version="1.0"?><!DOCTYPE en-export SYSTEM "http://x.test/e.dtd"><en-export>{"".join(notes)}</en-export>'
    )


def test_notes_of_an_export_keep_title_time_tags_and_attachments(tmp_path: Path) -> None:
    picture = b"not really a picture"
    digest = hashlib.md5(picture).hexdigest()
    note = (
        "<note><title>Oars</title><created>20240301T100000Z</created><tag>boats</tag><tag>wood</tag>"
        "<note-attributes><author>Ana</author></note-attributes><content><![CDATA[<en-note><h1>Ash</h1>"
        f'<div>Light <b>wood</b></div><div><en-todo checked="true"/>oil</div><en-media hash="{digest}"/>'
        "</en-note>]]></content><resource><data encoding='base64'>"
        f"{base64.b64encode(picture).decode()}</data><resource-attributes><file-name>oar.png</file-name>"
        "</resource-attributes></resource></note>"
    )
    [one] = items(read(tmp_path, "export.enex", enex(note)))
    item = one.item
    assert (item.name, item.tags, one.context) == ("Oars", ("boats", "wood"), "Evernote")
    assert item.text == "Ash\n\nLight wood\n\n[x] oil\n\n[attachment: oar.png]"
    assert (item.timestamp, item.metadata["author"]) == (datetime(2024, 3, 1, 10, tzinfo=UTC), "Ana")
    [again] = items(read(tmp_path, "export of next month.enex", enex(note)))
    assert again.item == item


def test_a_cut_export_gives_the_notes_before_the_cut(tmp_path: Path) -> None:
    note = "<note><title>Oars</title><content>&lt;en-note>Ash&lt;/en-note></content></note>"
    one, refusal = read(tmp_path, "export.enex", enex(note, note)[: -len("</note></en-export>") - 20])
    assert isinstance(one, SourceItem)
    assert isinstance(refusal, Refused)
    assert "cut off" in refusal.reason


def test_entities_of_an_export_are_refused(tmp_path: Path) -> None:
    [refusal] = read(tmp_path, "a.enex", '<!DOCTYPE x [<!ENTITY a "aaaa">]><en-export><note>&a;</note></en-export>')
    assert isinstance(refusal, Refused)
    assert "entities" in refusal.reason


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "n.org",
            "#+title: Canal\nIntro.\n* TODO Locks :work:\nLeaks.\n#+begin_src sh\n* no\n#+end_src\n** Gate\nRusts.\n",
        ),
        ("n.rst", "Intro.\n\nLocks\n=====\n\nLeaks.\n\n====  ====\na     b\n====  ====\n\nGate\n----\nRusts.\n"),
        ("n.adoc", "Intro.\n\n== Locks\n\nLeaks.\n\n----\n== no\n----\n\n=== Gate\nRusts.\n"),
        (
            "n.tex",
            "\\title{Canal}\n\\begin{document}\nIntro.\n\\section{Locks}\nLeaks.\n\\subsection*{\\emph{Gate}}\nRusts.\n\\end{document}\n",
        ),
    ],
)
def test_a_markup_is_cut_at_its_headings_and_kept_as_it_is(tmp_path: Path, name: str, text: str) -> None:
    intro, locks, gate = items(read(tmp_path, name, text))
    title = "Canal" if "Canal" in text else "n"
    assert [one.item.name for one in (intro, locks, gate)] == [title, f"{title} > Locks", f"{title} > Locks > Gate"]
    assert [one.item.id for one in (intro, locks, gate)] == [name, f"{name}#locks", f"{name}#gate"]
    assert "Leaks." in locks.item.text
    assert "Rusts." in gate.item.text
    assert "Rusts." not in locks.item.text
    for line in text.splitlines():
        if not line.startswith(("\\title", "\\begin{doc", "\\end{doc")):
            assert any(line in one.item.text for one in (intro, locks, gate)), line
