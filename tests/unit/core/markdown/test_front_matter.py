from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from vicw_core.markdown.front_matter import FrontMatter, front_matter


def test_yaml_front_matter_is_read_in_its_common_forms() -> None:
    text = '---\nTitle: "A: b"\nid: 7\naliases:\n  - One\n  - 2\nalias: Three\ntags: x, "#y"\nsummary: What.\n---\nBody'
    assert front_matter(text) == FrontMatter(
        10, "A: b", "7", "What.", ("One", "2", "Three"), ("x", '"#y"'), {"summary": "What."}
    )
    assert front_matter("---\ntags: [x, '#y', x]\n...\nBody").tags == ("x", "y")


def test_toml_front_matter_between_plus_signs_is_read() -> None:
    assert front_matter('+++\ntitle = "A"\naliases = ["B"]\n+++\nBody') == FrontMatter(4, "A", aliases=("B",))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Body",
        "---\n\nA rule, and text.\n\n---\n",
        "---\ntitle: A\n",
        "---\n[1, 2]\n---\n",
        "+++\nbroken\n+++\nBody",
    ],
)
def test_text_that_only_resembles_front_matter_is_no_front_matter(text: str) -> None:
    assert front_matter(text) == FrontMatter()


def test_broken_front_matter_is_read_key_by_key() -> None:
    text = "---\ncreated: {{date}}\ntitle: Weekly: plan\ntags: [plan, x\nid: 7\n---\nBody"
    placeholder = "'created' of the front matter is a placeholder that was never filled in"
    problems = ("front matter is no valid YAML; read key by key", placeholder)
    assert front_matter(text) == FrontMatter(6, "Weekly: plan", "7", tags=("plan", "x"), problems=problems)
    assert front_matter("---\ntitle:\tA\ntags:\n\t- x\n\t- '#y'\n---\nBody") == FrontMatter(6, "A", tags=("x", "y"))


@pytest.mark.timeout(20)
def test_anchors_of_yaml_that_lead_into_themselves_end() -> None:
    assert front_matter("---\na: &a {b: *a, c: 1}\n---\nBody").properties == {"a.c": 1, "a.b.c": 1, "a.b.b.c": 1}
    wide = "".join(
        f"{name}: &{name} {{x: *{below}, y: *{below}}}\n"
        for below, name in zip("abcdefghijkl", "bcdefghijklm", strict=True)
    )
    assert len(front_matter(f"---\na: &a {{v: 1}}\n{wide}---\nBody").properties) <= 64


def test_a_key_that_comes_twice_keeps_both_values_and_is_said() -> None:
    front = front_matter("---\ntags: a\ntags: [b]\nstatus: open\n---\nBody")
    assert (front.tags, front.properties) == (("a", "b"), {"status": "open"})
    assert front.problems == ("front matter names 'tags' twice; read key by key",)


def test_all_other_properties_are_kept_as_they_are() -> None:
    text = (
        "---\ntitle: T\nstatus: open\npages: 12\nshare: 0.5\ndone: false\nseen: 2025-03-05\nup: '[[Home]]'\n"
        "authors: [Ida, Kai]\nplace: {name: Pier, number: 3}\nDate Created: 2025-03-05T08:30\nnothing:\n---\nBody"
    )
    assert front_matter(text).properties == {
        "status": "open",
        "pages": 12,
        "share": 0.5,
        "done": False,
        "seen": "2025-03-05",
        "up": "[[Home]]",
        "authors": ["Ida", "Kai"],
        "place.name": "Pier",
        "place.number": 3,
        "date created": "2025-03-05T08:30",
    }


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("date: 2025-03-06", date(2025, 3, 6)),
        ("created: 2025-03-05T08:30", datetime(2025, 3, 5, 8, 30)),
        ("created: 2025-03-05 08:30:00+01:00", datetime(2025, 3, 5, 8, 30, tzinfo=timezone(timedelta(hours=1)))),
        ("created: 2024-01-01\ndate: '2025-03-06'", date(2025, 3, 6)),
        ("date: last spring", None),
        ("date: [2025-03-06]", None),
    ],
)
def test_a_page_says_when_it_was_written(written: str, time: date | None) -> None:
    assert front_matter(f"---\n{written}\n---\nBody").time == time


def test_empty_front_matter_is_front_matter() -> None:
    assert front_matter("---\n---\nBody").lines == 2


@pytest.mark.parametrize("value", ["[" * 5000, "- " * 5000, "&a [*a, *a]", "!!python/object/apply:os.system [ls]"])
def test_hostile_front_matter_values_yield_no_title(value: str) -> None:
    assert front_matter(f"---\ntitle: {value}\n---\nBody").title is None
