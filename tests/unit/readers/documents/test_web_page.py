"""Reader of HTML: what people read on a page, and nothing of what surrounds it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vicw_readers.documents.html.text import readable_text
from vicw_readers.paths import read_paths
from vicw_readers.records import Record, Refused, SourceItem


def read(folder: Path, page: str | bytes, name: str = "pool.html") -> list[Record]:
    (folder / name).write_bytes(page if isinstance(page, bytes) else page.encode())
    return list(read_paths([folder / name]))


def items(records: list[Record]) -> list[SourceItem]:
    assert all(isinstance(record, SourceItem) for record in records), records
    return [record for record in records if isinstance(record, SourceItem)]


def text_of(folder: Path, page: str) -> str:
    return "\n\n".join(one.item.text for one in items(read(folder, page)))


def test_a_page_is_cut_at_its_headings(tmp_path: Path) -> None:
    page = """<!doctype html><html lang=en><head><title>Swimming pool</title><meta name=author content="Ana">
    <meta property="article:published_time" content="2024-03-01T08:00:00+01:00"><script>track()</script></head>
    <body><nav><a href=/>Home</a></nav><h1>Swimming pool</h1><p>Open   all
    year.<h2>Prices</h2><p>Adults pay <b>4</b> &euro;.</p><h2>Prices</h2>Children swim free.<footer>Imprint</footer>"""
    sections = items(read(tmp_path, page))
    assert [(one.item.id, one.item.name, one.item.text) for one in sections] == [
        ("pool.html#swimming-pool", "Swimming pool", "Swimming pool\n\nOpen all year."),
        ("pool.html#prices", "Swimming pool > Prices", "Prices\n\nAdults pay 4 €."),
        ("pool.html#prices-1", "Swimming pool > Prices", "Prices\n\nChildren swim free."),
    ]
    assert sections[0].item.metadata["author"] == "Ana"
    assert sections[0].item.timestamp == datetime(2024, 3, 1, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    "noise",
    [
        "<nav>NOISE</nav>",
        "<aside>NOISE</aside>",
        "<form>NOISE<select><option>NOISE</select></form>",
        "<style>.a{content:'NOISE'}</style>",
        "<script>if (a < b) { '</p>NOISE' }</script>",
        "<!-- NOISE <p>NOISE</p> -->",
        "<div hidden>NOISE</div>",
        '<div style="display: none">NOISE</div>',
        '<div aria-hidden="true">NOISE</div>',
        '<div role="navigation"><p>NOISE</div>',
        '<div class="main-menu"><ul><li><a href=#>NOISE</a><li><a href=#>NOISE</a></ul></div>',
        "<template><p>NOISE</template>",
        "<svg><text>NOISE</text></svg>",
    ],
)
def test_what_nobody_reads_is_left_out(tmp_path: Path, noise: str) -> None:
    assert text_of(tmp_path, f"<html><body>{noise}<p>The pool is open.</p>{noise}") == "The pool is open."


def test_a_menu_of_dishes_is_no_navigation(tmp_path: Path) -> None:
    page = '<html><body><div class="menu"><p>Soup of the day with bread</p><p>Fish</p></div><p>Open at noon.</p>'
    assert "Soup of the day" in text_of(tmp_path, page)


def test_the_marked_main_part_is_the_page(tmp_path: Path) -> None:
    page = "<html><body><div>Subscribe!</div><main><h1>Rules</h1><p>No running.</p></main><div>More pages</div>"
    assert text_of(tmp_path, page) == "Rules\n\nNo running."


def test_lists_tables_quotes_and_code_keep_their_lines() -> None:
    page = """<ul><li>One<ul><li>inner</ul><li>Two</ul><ol><li>first<li>second</ol>
    <table><tr><th>Day<th>Hour<tr><td>Mon<td>6:30</table><blockquote>said<br>twice</blockquote><pre>a
      b</pre>"""
    assert readable_text(page) == (
        "- One\n  - inner\n- Two\n1. first\n2. second\n\nDay | Hour\nMon | 6:30\n\n> said\n> twice\n\na\n      b"
    )


def test_a_mail_keeps_what_a_page_would_leave_out() -> None:
    mail = "<div>Hello Ana,<br>see you</div><footer>Bo</footer><div class=footer><a href=#>Unsubscribe</a></div>"
    assert readable_text(mail) == "Hello Ana,\nsee you\n\nBo\n\nUnsubscribe"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('<html><meta charset="iso-8859-1"><p>caf\xe9'.encode("latin-1"), "café"),
        ("<html><p>café".encode(), "café"),
        ("<html><p>caf\xe9".encode("latin-1"), "café"),
        ("\ufeff<html><p>café".encode("utf-16-le"), "café"),
    ],
)
def test_the_encoding_is_the_declared_one_or_one_that_fits(tmp_path: Path, data: bytes, text: str) -> None:
    assert [one.item.text for one in items(read(tmp_path, data))] == [text]


def test_a_page_is_known_by_its_content(tmp_path: Path) -> None:
    [one] = items(read(tmp_path, "<!-- saved --><!DOCTYPE html><p>Open.", "pool.txt"))
    assert (one.reader, one.item.text) == ("html", "Open.")


def test_a_page_without_text_is_refused(tmp_path: Path) -> None:
    [refusal] = read(tmp_path, "<html><body><div id=root></div><script>start()</script>")
    assert isinstance(refusal, Refused)
    assert "no text for people" in refusal.reason


@pytest.mark.parametrize(
    "hostile", ["<div>" * 200_000, "<a '" * 300_000, "<!--" * 300_000, "</ " * 300_000 + ">", "<p x=\"<p x='" * 100_000]
)
def test_time_is_linear_in_the_text(hostile: str) -> None:
    before = time.process_time()
    readable_text(hostile + "<p>end")
    assert time.process_time() - before < 8


def test_a_template_of_a_program_is_code(tmp_path: Path) -> None:
    (record,) = read(tmp_path, "<!doctype html>\n<p><?php echo $toll; ?></p>\n", "toll.php")
    assert isinstance(record, SourceItem)
    assert record.reader != "html"


@pytest.mark.timeout(10)
def test_many_comments_before_what_is_no_page_are_looked_at_once(tmp_path: Path) -> None:
    text = "<!-- licence -->\n" * 60 + "<config/>\n"
    assert items(read(tmp_path, text, "config"))[0].reader != "html"
    assert items(read(tmp_path, text + "<html><body><p>Open.</p></body></html>"))[0].reader == "html"
