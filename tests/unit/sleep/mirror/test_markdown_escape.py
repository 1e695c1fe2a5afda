"""Stored text is shown and does nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents.mirror_pages import links
from vicw_sleep.mirror.markdown_escape import in_line, label, shown

MARKS = st.text(alphabet=st.sampled_from(list("ab \n\\`~#[](!<>%$^-=_*{}|/:.h")), max_size=60)


@given(MARKS)
def test_escaped_text_never_makes_links(text: str) -> None:
    assert links(shown(text)) == set()
    assert links(in_line(text)) == set()
    assert not set("[]|") & set(label(text))
    assert "\n" not in in_line(text) + label(text)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("see [[Secret]] now", "see \\[\\[Secret]] now"),
        ("# not a heading", "\\# not a heading"),
        ("a\n---\nb", "a\n\\---\nb"),
        ("a\n===", "a\n\\==="),
        ("#tag", "\\#tag"),
        ("![x](http://tracker/p.png)", "\\![x](http://tracker/p.png)"),
        ("[x](other.md)", "[x\\](other.md)"),
        ("[x](https://a.org)", "[x](https://a.org)"),
        ("<script>", "\\<script>"),
        ("%% hidden %%", "\\%\\% hidden \\%\\%"),
        ("```js\n[[x]]\n```", "```js\n[[x]]\n```"),
        ("```dataviewjs\nx\n```", "\\```dataviewjs\nx\n\\```"),
        ("```\nnever closed", "\\```\nnever closed"),
        ("`= this.file`", "\\`= this.file`"),
        ("a\r\nb\x1b[31m", "a\nb\ufffd[31m"),
        ("- a list\n- **bold**\n> quoted", "- a list\n- **bold**\n> quoted"),
    ],
)
def test_only_active_markdown_is_escaped(text: str, markdown: str) -> None:
    assert shown(text) == markdown


@pytest.mark.parametrize(
    "text", ["```py\n" * 100_000, "`" * 500_000, "- " * 250_000 + "x", "^" + "a" * 500_000 + "!", "[" * 500_000]
)
def test_hostile_text_is_escaped_in_bounded_time(text: str) -> None:
    began = time.thread_time()
    shown(text)
    assert time.thread_time() - began < 5
