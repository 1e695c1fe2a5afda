from __future__ import annotations

import time

import pytest

from vicw_core.markdown.links import LinkKind, PageLink
from vicw_core.markdown.outline import outline


def links_of(text: str) -> list[tuple[str, str, int, str | None]]:
    return [(link.kind.value, link.target, link.line, link.heading) for link in outline(text).links]


def test_wiki_links_are_found_with_alias_and_heading() -> None:
    assert links_of("[[A]] [[a/b.md|other]]\n[[C#One|x]] [[#Here]] [[D#One#Two]]") == [
        ("wiki", "A", 1, None),
        ("wiki", "a/b.md", 1, None),
        ("wiki", "C", 2, "One"),
        ("wiki", "", 2, "Here"),
        ("wiki", "D", 2, "Two"),
    ]


def test_links_by_path_and_url_are_found() -> None:
    text = (
        "[x](../a%20b.md#c) [y](d/ 'title') <https://e.org/f> https://g.org/h. [i](mailto:a@b.c) [j](//k) ![l](m.png)"
    )
    assert links_of(text) == [
        ("path", "../a b.md", 1, "c"),
        ("path", "d/", 1, None),
        ("url", "https://e.org/f", 1, None),
        ("url", "https://g.org/h", 1, None),
    ]


def test_links_in_references_tables_and_lists_are_found() -> None:
    text = "- [x][r]\n\n[r]: a.md\n\n| a |\n|---|\n| [[B]] |\n"
    assert links_of(text) == [("path", "a.md", 1, None), ("wiki", "B", 7, None)]


def test_inline_code_that_names_a_symbol_or_path_is_a_link() -> None:
    text = "`run()` `Store.put` `src/a.py` `snake_case` `camelCase` `Widget` `plain` `two words` `a = b`"
    assert [target for kind, target, _, _ in links_of(text)] == [
        "run",
        "Store.put",
        "src/a.py",
        "snake_case",
        "camelCase",
        "Widget",
    ]


def test_links_in_code_are_not_links() -> None:
    assert links_of("```\n[[A]]\n```\n\n    [[B]]\n\n`[[C]]` \\[[D]]") == []


def test_headings_have_unique_anchors_and_offsets() -> None:
    text = "Before.\n\n# One *two*\n\nText.\n\n# One two\n\nThree\n=====\n\n```\n# no\n```\n"
    made = outline(text)
    assert [(h.title, h.level, h.anchor) for h in made.headings] == [
        ("One two", 1, "one-two"),
        ("One two", 1, "one-two-1"),
        ("Three", 1, "three"),
    ]
    assert [text[h.start :].splitlines()[0] for h in made.headings] == ["# One *two*", "# One two", "Three"]
    assert made.summary == "Before."


def test_the_same_link_on_one_line_counts_once() -> None:
    assert outline("[[A]] [[A]]\n[[A]]").links == (PageLink(LinkKind.WIKI, "A", 1), PageLink(LinkKind.WIKI, "A", 2))


@pytest.mark.parametrize("part", ["[", "[[", "[](", "*a ", "`a ", "<a ", "> ", "- a\n", "![", "**a", "[a]: b\n", "|a"])
def test_a_hostile_page_takes_time_that_grows_with_its_length(part: str) -> None:
    started = time.thread_time()
    outline(part * 8000)
    assert time.thread_time() - started < 5


def test_a_heading_may_name_its_anchor() -> None:
    made = outline("# One {#first}\n## Two { #second .small }\n## {#third}\n## Set {a}\n")
    assert [(heading.title, heading.written, heading.anchor) for heading in made.headings] == [
        ("One", "One", "first"),
        ("Two", "Two", "second"),
        ("Set {a}", "Set {a}", "set-a"),
    ]


def test_blocks_are_known_by_the_heading_they_are_under() -> None:
    text = "Before ^b0\n# One\nText. ^b1\n\n- item ^b-2\n  more\n\n`x ^no`\n\n2 ^ 3\n\n```\ny ^no\n```\n"
    assert outline(text).blocks == (("b0", ""), ("b1", "one"), ("b-2", "one"))


def test_references_of_hugo_and_snippets_of_mkdocs_are_links() -> None:
    text = 'See [setup]({{< ref "docs/setup.md#next" >}}), {{% relref "about.md" %}}\n\n--8<-- "parts/a.md"\n'
    assert links_of(text) == [
        ("path", "docs/setup.md", 1, "next"),
        ("wiki", "about.md", 1, None),
        ("include", "parts/a.md", 3, None),
    ]


def test_includes_of_mkdocs_and_pages_of_docusaurus_are_links() -> None:
    text = (
        "import Part from './_part.mdx';\nimport Tabs from '@theme/Tabs';\n\n"
        "{% include 'a.md' %} {% include-markdown \"../b.md#x\" %} {! c.md !}\n\n"
        '[d](@site/docs/d.md) <Link to=\'./e.md\'>e</Link> <a class="x" href="f.md#g">f</a> '
        "<a href='mailto:x@y.z'>m</a>\n\n"
        "<div>\n<a href='h.md'>h</a>\n</div>\n\n`{! i.md !}` <span to='j.md'>j</span>\n"
    )
    assert links_of(text) == [
        ("path", "./_part.mdx", 1, None),
        ("include", "a.md", 4, None),
        ("include", "../b.md", 4, "x"),
        ("include", "c.md", 4, None),
        ("path", "@site/docs/d.md", 6, None),
        ("path", "./e.md", 6, None),
        ("path", "f.md", 6, "g"),
        ("path", "h.md", 9, None),
    ]


def test_blocks_of_logseq_have_ids_and_are_referred_to_by_them() -> None:
    block = "6615d7a2-0b3c-4c1e-9a55-2f8f3d1c7e90"
    made = outline(f"# One\n- text\n  id:: {block}\n- id:: no uuid\n\n`id:: {block[:-1]}1`\n")
    assert made.blocks == ((block, "one"),)
    text = f"See (({block.upper()})), [it]((({block}))), {{{{embed (({block}))}}}} and ((no block)).\n"
    assert {(kind, target) for kind, target, _, _ in links_of(text)} == {("block", block)}
