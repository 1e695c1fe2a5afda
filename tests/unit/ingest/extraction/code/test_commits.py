"""Commits are read as Git prints them, and so are messages alone; other text is not taken for one."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicw_ingest.extraction.code.commits import Commit, parse_commit, parse_commits
from vicw_ingest.extraction.code.fences import blank_out

LOG = """Here is the log:

commit 4da1123e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c (HEAD -> main, origin/main)
Merge: 1234567 89abcde
Author: Ana María <ana@example.org>
Date:   Fri Nov 22 10:01:02 2024 +0100

    fix(db)!: pool is closed once, fixes #12 and #13

    UTF-8 was not it. See GH-7, acme/app#3, DB-44, and 1a2b3c4d.

    BREAKING CHANGE: close() is gone
    Co-authored-by: Ben Q <ben@example.org>

 src/db.py             | 10 +++++-----
 src/{old => new}/a.py |  2 +-
 img.png               | Bin 0 -> 12 bytes
 3 files changed, 6 insertions(+), 6 deletions(-)

commit b77c3c6
Author: Ben <ben@example.org>
AuthorDate: 2024-11-21 09:00:00

    Revert "add pool"

    This reverts commit 0123456789abcdef0123456789abcdef01234567.

diff --git a/src/db.py b/src/db.py
index 1..2 100644
--- a/src/db.py
+++ b/src/db.py
@@ -1 +1 @@
-commit abcdef1
+b
"""


def message(text: str) -> Commit:
    commit = parse_commit(text)
    assert commit
    return commit


def test_a_git_log_is_parsed_into_its_commits() -> None:
    fix, revert = parse_commits(LOG)
    assert fix.author == "Ana María"
    assert fix.date == datetime(2024, 11, 22, 10, 1, 2, tzinfo=timezone(timedelta(hours=1)))
    assert fix.subject == "fix(db)!: pool is closed once, fixes #12 and #13"
    assert fix.references == ("#12", "#13", "GH-7", "acme/app#3", "DB-44", "1a2b3c4d")
    assert fix.closes == ("#12", "#13")
    assert fix.co_authors == ("Ben Q",)
    assert fix.files == ("src/db.py", "src/new/a.py", "img.png")
    assert revert.subject == 'Revert "add pool"'
    assert revert.date == datetime(2024, 11, 21, 9, tzinfo=UTC)
    assert revert.reverts == ("0123456789abcdef0123456789abcdef01234567",)
    assert revert.files == ("src/db.py",)


def test_commit_headers_trailers_and_diffs_are_marked_as_non_prose() -> None:
    said = blank_out(LOG, [span for commit in parse_commits(LOG) for span in commit.non_prose])
    assert [line.strip() for line in said.splitlines() if line.strip()] == [
        "Here is the log:",
        "fix(db)!: pool is closed once, fixes #12 and #13",
        "UTF-8 was not it. See GH-7, acme/app#3, DB-44, and 1a2b3c4d.",
        "BREAKING CHANGE: close() is gone",
        'Revert "add pool"',
        "This reverts commit 0123456789abcdef0123456789abcdef01234567.",
    ]


def test_parse_commit_returns_the_first_commit_of_a_git_log() -> None:
    assert parse_commit(LOG) == parse_commits(LOG)[0]


def test_changed_files_are_read_from_a_name_status_list() -> None:
    text = "commit b77c3c6\nAuthor: B <b@x.org>\n\n    x\n\nM\tsrc/a.py\nR100\told.py\tnew.py\nD\tb c.py\n"
    assert message(text).files == ("src/a.py", "new.py", "b c.py")


@pytest.mark.parametrize(
    ("text", "closes"),
    [
        ("feat(api): add x\n\nCloses: JIRA-12", ("JIRA-12",)),
        ("Fix: stop it, resolves https://example.org/a/b/issues/4", ("https://example.org/a/b/issues/4",)),
        ('Revert "x"\n\nThis reverts commit abcdef1.', ()),
        ("Merge pull request #4 from a/b", ()),
        ("Stop it\n\nBecause.\n\nSigned-off-by: A <a@b.c>", ()),
    ],
)
def test_a_commit_message_without_headers_is_parsed(text: str, closes: tuple[str, ...]) -> None:
    commit = message(text)
    assert (commit.subject, commit.closes) == (text.splitlines()[0], closes)
    assert (commit.author, commit.date) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Note: this is prose",
        "He said: fix it",
        "commit 1234567 was fine",
        "We closed #4 today.",
        "Dear A: x",
    ],
)
def test_text_that_is_no_commit_is_not_read_as_one(text: str) -> None:
    assert parse_commit(text) is None
    assert parse_commits(text) == []


def test_plain_text_is_parsed_as_a_commit_if_declared_a_message() -> None:
    commit = parse_commit("We closed the pool, fixed #4", is_message=True)
    assert commit
    assert (commit.subject, commit.closes) == ("We closed the pool, fixed #4", ("#4",))


@pytest.mark.parametrize("date", ["99999999999999999999", "3 days ago", "0001-01-01 00:00:00 +0100"])
def test_an_invalid_commit_date_is_ignored(date: str) -> None:
    assert message(f"commit b77c3c6\nAuthor: B <b@x.org>\nDate: {date}\n\n    x\n").date is None


@pytest.mark.parametrize(
    "date",
    [
        "Mon Mar 2 10:00:00 2026 +0100",
        "Mon, 2 Mar 2026 10:00:00 +0100",
        "2026-03-02 10:00:00 +0100",
        "2026-03-02T10:00:00+01:00",
        "Mon Mar 2 09:00:00 2026",
    ],
)
def test_dates_are_read_in_each_format_of_git(date: str) -> None:
    commit = message(f"commit b77c3c6\nAuthor: B <b@x.org>\nDate:   {date}\n\n    x\n")
    assert commit.date == datetime(2026, 3, 2, 9, tzinfo=UTC)


@given(st.lists(st.sampled_from([*(line + "\n" for line in LOG.splitlines()), "x", "#", "é"]), max_size=30))
def test_any_order_of_git_log_lines_keeps_spans_inside(lines: list[str]) -> None:
    text = "".join(lines)
    for commit in filter(None, [*parse_commits(text), parse_commit(text, is_message=True)]):
        assert all(0 <= span.start <= span.end <= len(text) for span in commit.non_prose)


@given(st.text(max_size=200))
def test_any_text_is_parsed_for_commits_without_an_error(text: str) -> None:
    parse_commits(text)
    parse_commit(text, is_message=True)
