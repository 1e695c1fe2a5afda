"""What is stored of stack traces and of commits."""

from __future__ import annotations

import pytest

from support.stores.memory import Memory
from unit.ingest.extraction.test_stored_extraction import ingest_by_rules, live_edges, nodes
from vicw_shared.model import Label

TRACE = """The nightly job died again, and Ana is looking at it.

Traceback (most recent call last):
  File "app/db.py", line 12, in connect
    return driver.open(url)
ConnectionRefusedError: port 5432 is closed

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "app/jobs.py", line 40, in run_nightly
    db.connect()
RuntimeError: no database

I will restart the database.
"""


async def test_a_stack_trace_stores_the_cause_and_location_of_each_failure(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "t", "text": TRACE, "speaker": "Lena"})
    root, outer = "ConnectionRefusedError: port 5432 is closed", "RuntimeError: no database"
    assert await live_edges(memory, "CAUSED") == {(root, "CAUSED", outer)}
    assert await live_edges(memory, "RELATED_TO") == {
        (root, "RELATED_TO", "connect"),
        (outer, "RELATED_TO", "run_nightly"),
    }
    assert ("app/db.py", "CONTAINS", "connect") in await live_edges(memory, "CONTAINS")
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"The nightly job died again, and Ana is looking at it.", "I will restart the database."}
    assert (await memory.check()).violations == []


async def test_a_commit_stores_its_author_fixed_issue_and_reverted_commit(memory: Memory) -> None:
    sha = "0123456789abcdef0123456789abcdef01234567"
    at = "2026-03-02T09:00:00Z"
    await ingest_by_rules(memory, {"id": sha, "text": "feat: cache everything", "subtype": "commit", "timestamp": at})
    text = (
        "commit 89abcdef0123456789abcdef0123456789abcdef\nAuthor: Ben Carter <ben@example.org>\n"
        "Date:   Mon Mar 2 10:00:00 2026 +0000\n\n    fix: do not cache secrets\n\n"
        f"    This reverts commit {sha}.\n    Fixes #12\n\n"
        " app/cache.py | 3 +--\n 1 file changed\n"
    )
    await ingest_by_rules(memory, {"id": "fix", "text": text, "name": "the fix", "subtype": "commit", "timestamp": at})
    assert ("Ben Carter", "INITIATED", "the fix") in await live_edges(memory, "INITIATED")
    assert await live_edges(memory, "RELATED_TO") == {("the fix", "RELATED_TO", "#12")}
    assert await live_edges(memory, "CONTRADICTS") == {("the fix", "CONTRADICTS", "feat: cache everything")}
    assert ("the fix", "MENTIONS", "app/cache.py") in await live_edges(memory, "MENTIONS")
    assert (await memory.check()).violations == []


SHA = "4f2a91c0d3b2a1908f7e6d5c4b3a29180f7e6d5c"


@pytest.mark.parametrize("who", [{}, {"speaker": "Ana"}])
async def test_a_commit_message_stores_fixes_reverts_and_co_authors(memory: Memory, who: dict[str, str]) -> None:
    at = {"subtype": "commit", "timestamp": "2026-01-01T10:00:00Z", **who}
    revert = (
        f'Revert "Cache the index"\n\nThis reverts commit {SHA}.\n\n'
        "Signed-off-by: Zoe Wu <zoe@example.org>\nCo-authored-by: Ben Li <ben@example.org>\n"
    )
    await ingest_by_rules(
        memory,
        {"id": SHA, "text": "Cache the index in memory\n\nBecause reads were slow.\n", **at},
        {"id": "b", "text": revert, **at},
        {"id": "c", "text": "Fix the parser, fixes #42", **at},
    )
    first, second, third = "Cache the index in memory", 'Revert "Cache the index"', "Fix the parser, fixes #42"
    assert await live_edges(memory, "RELATED_TO") == {(third, "RELATED_TO", "#42")}
    assert await live_edges(memory, "CONTRADICTS") == {(second, "CONTRADICTS", first)}
    assert await live_edges(memory, "CAUSED") == {("reads were slow", "CAUSED", first)}
    authors = {(name, of) for name, _, of in await live_edges(memory, "INITIATED")}
    assert authors == {("Ben Li", second)} | ({("Ana", of) for of in (first, second, third)} if who else set())
    things = await nodes(memory, Label.ENTITY)
    assert {node.name for node in things if node.subtype == "person"} == {"Ben Li", *who.values()}
    assert {"Co", "Zoe Wu", "ben@example.org"}.isdisjoint(node.name for node in things)
    assert (await memory.check()).violations == []


PRINTED = (
    f"commit {SHA}\nAuthor: Ana Lima <ana@example.org>\nDate:   Mon Mar 2 10:00:00 2026 +0100\n\n    Pause longer\n\n"
    "    Retries were too quick.\n"
)
HEADED = (
    "Author: Ana Lima <ana@example.org>\nDate: 2026-03-02 10:00:00 +0100\n\nPause longer\n\nRetries were too quick."
)
BELOW = "Pause longer\n\nRetries were too quick.\n\nAuthor: Ana Lima <ana@example.org>"


@pytest.mark.parametrize(
    ("text", "subtype", "at"),
    [
        (PRINTED, "commit", "2026-03-02T09:00:00+00:00"),
        (PRINTED, None, "2026-03-02T09:00:00+00:00"),
        (HEADED, "commit", "2026-03-02T09:00:00+00:00"),
        (HEADED, None, "2026-03-02T09:00:00+00:00"),
        (BELOW, "commit", None),
    ],
)
async def test_a_commit_has_its_author_and_time_from_the_text(
    memory: Memory, text: str, subtype: str | None, at: str | None
) -> None:
    await ingest_by_rules(memory, {"id": SHA, "text": text, **({"subtype": subtype} if subtype else {})})
    assert await live_edges(memory, "INITIATED") == {("Ana Lima", "INITIATED", "Pause longer")}
    (item,) = [node for node in await nodes(memory, Label.EVENT) if node.source_id == SHA and node.content_hash]
    assert (item.subtype, item.timestamp_inferred) == ("commit", at is None)
    assert at is None or (item.timestamp is not None and item.timestamp.isoformat() == at)
    said = {node.text for node in await nodes(memory, Label.EVENT) if node.is_statement}
    assert said == {"Retries were too quick."}
    assert (await memory.check()).violations == []


@pytest.mark.parametrize(
    ("text", "subtype"),
    [
        ("Pause longer\n\nRetries were too quick.", "commit"),
        (PRINTED + PRINTED.replace("Ana", "Ben").replace("4f2a", "5f2a"), "commit"),
        ("Author: Ana Lima\nTitle: On pauses\n\nRetries are quick.", None),
    ],
)
async def test_text_without_a_single_commit_author_stays_a_document(
    memory: Memory, text: str, subtype: str | None
) -> None:
    await ingest_by_rules(memory, {"id": SHA, "text": text, **({"subtype": subtype} if subtype else {})})
    assert await live_edges(memory, "INITIATED") == set()
    assert [node.source_id for node in await nodes(memory, Label.ENTITY) if node.content_hash] == [SHA]


async def test_a_chat_turn_like_a_commit_adds_no_related_to_edge(memory: Memory) -> None:
    await ingest_by_rules(memory, {"id": "x", "text": "fix: I told you so", "speaker": "Ana"})
    assert await live_edges(memory, "RELATED_TO") == set()
