from __future__ import annotations

import pytest

from vicw_core.markdown.front_matter import FrontMatter, front_matter


def test_yaml_front_matter_is_read_in_its_common_forms() -> None:
    text = '---\nTitle: "A: b"\nid: 7\naliases:\n  - One\n  - 2\nalias: Three\ntags: x, "#y"\nsummary: What.\n---\nBody'
    assert front_matter(text) == FrontMatter(10, "A: b", "7", "What.", ("One", "2", "Three"), ("x", '"#y"'))
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
    assert front_matter(text) == FrontMatter(6, "Weekly: plan", "7", tags=("plan", "x"))
    assert front_matter("---\ntitle:\tA\ntags:\n\t- x\n\t- '#y'\n---\nBody") == FrontMatter(6, "A", tags=("x", "y"))


def test_empty_front_matter_is_front_matter() -> None:
    assert front_matter("---\n---\nBody").lines == 2


@pytest.mark.parametrize("value", ["[" * 5000, "- " * 5000, "&a [*a, *a]", "!!python/object/apply:os.system [ls]"])
def test_hostile_front_matter_values_yield_no_title(value: str) -> None:
    assert front_matter(f"---\ntitle: {value}\n---\nBody").title is None
