from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_core.text.heading_anchors import Unique, slug
from vicw_readers.notes.markdown import sections
from vicw_readers.paths import read_paths
from vicw_readers.records import SourceItem
from vicw_shared.text import lines_of, visible

_LINES = st.sampled_from(
    "# One|## Two ##|#|#no|Title|=====|---|```|~~~~|````|- item|> q|    # code||  |text|1. x|\x0c|\u2028".split("|")
)
_ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
_MARKDOWN = st.lists(st.tuples(_LINES, _ENDS)).map(lambda parts: "".join(a + b for a, b in parts))


@given(_MARKDOWN | st.text())
def test_markdown_sections_concatenate_to_the_file_and_are_not_blank(text: str) -> None:
    found = sections(text)
    assert "".join(section.text for section in found) == (text if visible(text) else "")
    assert all(visible(section.text) for section in found)
    lines = lines_of(text)
    for section in found:
        assert "".join(lines[section.line :]).startswith(section.text)


@given(st.text())
def test_lines_concatenate_to_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A\n", [(1, "A")]),
        ("#\tA ##  \n", [(1, "A")]),
        ("####### A\n", []),
        ("#A\n", []),
        ("# A\n## C# #\n", [(1, "A"), (2, "C#")]),
        ("   # A", [(1, "A")]),
        ("    # A", []),
        ("A\n===\n", [(1, "A")]),
        ("A\nb\n---\n", [(1, "A b")]),
        ("> # A\n\n- # A\n", []),
        ("#\n", []),
        ("\n---\n", []),
        ("- a\n---\n", []),
        ("| a |\n---\n", []),
        ("```\n# no\n```\n# A", [(1, "A")]),
        ("```\n~~~\n# no\n```\n# A", [(1, "A")]),
        ("````\n```\n# no\n````\n# A", [(1, "A")]),
        ("- x\n  ```sh\n  # no\n  ```\n# A", [(1, "A")]),
        ("``` a `b`\n# A", [(1, "A")]),
        ("```\n# no\n", []),
        ("*a* b\n===", [(1, "*a* b")]),
    ],
)
def test_markdown_headings_are_recognised(text: str, found: list[tuple[int, str]]) -> None:
    assert [(len(s.trail), s.trail[-1]) for s in sections(text) if s.trail] == found


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Hello, World!", "hello-world"),
        ("A  b", "a--b"),
        ("`vicw serve` options", "vicw-serve-options"),
        ("See [the docs](http://x.test/y)", "see-the-docs"),
        ("Über_uns — 2", "über_uns--2"),
        ("!!!", "section"),
    ],
)
def test_slugs_are_those_of_github(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


@given(st.lists(st.sampled_from(["a", "a-1", "a-1-1", "b"])))
def test_unique_gives_distinct_names_to_repeated_ones(names: list[str]) -> None:
    unique = Unique()
    given_names = [unique(name) for name in names]
    assert len(set(given_names)) == len(names)


def test_a_markdown_file_is_read_into_sections_with_tags(tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_text("---\ntags: [howto]\n---\nIntro.\n\n# Install\n\n## Linux\napt\n# Use\n## Linux\nrun\n")
    found = list(read_paths([file]))
    assert all(isinstance(record, SourceItem) for record in found)
    items = [(r.item.id, r.item.name, r.item.subtype, r.line) for r in found if isinstance(r, SourceItem)]
    assert items == [
        ("guide.md", "guide", "document", 4),
        ("guide.md#install", "Install", "section", 6),
        ("guide.md#linux", "Install > Linux", "section", 8),
        ("guide.md#use", "Use", "section", 10),
        ("guide.md#linux-1", "Use > Linux", "section", 11),
    ]
    assert {r.item.tags for r in found if isinstance(r, SourceItem)} == {("howto",)}


def test_a_file_without_headings_is_one_document(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("Just text.\n")
    (record,) = read_paths([file])
    assert isinstance(record, SourceItem)
    assert (record.item.id, record.item.name, record.item.text) == ("note.md", "note", "Just text.\n")
    assert (record.context, record.domain, record.flow_id) == ("note", None, None)
