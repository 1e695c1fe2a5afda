"""Names are safe on every file system, whatever a caller calls his tags, and never two names' alike."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_shared.text import fold_case
from vicw_sleep.mirror.file_names import UNTAGGED, slug, source_name

HOSTILE = [
    "\u1e96",
    *("..", ".", "/", "\\", "../../etc/passwd", "..\\..\\x", "a/b", "a:b", "a\x00b", "\x1b[31m", "a\nb", ""),
    *("CON", "con.txt", "Aux", "NUL", "com1", "LPT9.md", "COM¹", " lead", "trail ", "trail.", ".hidden", "~", "a~b"),
    *("[[x]]", "a|b", "a#b", "a^b", "a]b", "%TEMP%", "$HOME", "`id`", "-rf", "e\u0301", "\u202egpj.exe", "\u200b"),
    *("．．／", "ﬀ", "😀" * 99, "あ" * 300, "\ufffe", UNTAGGED, "@x", "{{t}}", "<% x %>"),
]
FORBIDDEN = set('\\/:*?"<>|#^[]%\x00\n\r\t')
DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def assert_safe(name: str) -> None:
    made = slug(name)
    assert 0 < len(made.encode()) <= 80
    assert not FORBIDDEN & set(made)
    assert made.isprintable()
    assert made == made.strip(" .")
    assert not made.startswith(("_", "."))
    assert made.split(".")[0] not in DEVICES
    assert made == unicodedata.normalize("NFC", fold_case(made)), (
        "no two are one to a file system without cases, or in another normal form"
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_become_safe_file_names(name: str) -> None:
    assert_safe(name)


@given(st.text(max_size=200))
def test_any_name_becomes_a_safe_file_name(name: str) -> None:
    assert_safe(name)


@given(st.lists(st.text(alphabet="aA/:._~ b", max_size=4), min_size=2, max_size=2))
def test_different_names_never_share_a_file_name(names: list[str]) -> None:
    one, other = names
    assert (slug(one) == slug(other)) == (fold_case(one) == fold_case(other))


def test_plain_names_are_only_case_folded() -> None:
    assert [slug(name) for name in ("Amulet", "two words", "snake_case", "v1.2", "größe")] == [
        *("amulet", "two words", "snake_case", "v1.2", "grösse")
    ]


def test_a_source_is_named_by_its_last_path_part() -> None:
    assert source_name("/home/ana/notes/day.md") == "day.md"
    assert source_name("https://example.org/handbook/?page=2#top") == "handbook"
