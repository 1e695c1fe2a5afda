"""Where a text may have results in an application's own form."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from vicw_ingest.echoes.heads import fits, is_frame
from vicw_ingest.echoes.pasting import Run, cut_key, runs
from vicw_ingest.echoes.quoting import after_pasted
from vicw_shared.model import Label, Node
from vicw_shared.model.wording import keys_of, plain

SAID = "The deployment failed. The cache was stale."


def words(text: str, found: list[Run]) -> set[str]:
    return {text[run.start : run.end] for run in found}


def source(**fields: Any) -> Node:
    at = datetime(2026, 1, 1, 10, tzinfo=UTC)
    known = {"speaker": "Ana", "name": "Ana", "source_id": "a-1", "flow_id": "night"} | fields
    return Node(
        uid="u",
        tenant="t",
        context="ops",
        domain="general",
        label=Label.EVENT,
        subtype="message",
        timestamp=at,
        created_at=at,
        **known,
    )


@pytest.mark.parametrize(
    "head",
    [
        "",
        "- ",
        "1. ",
        "12) ",
        "[3] ",
        "Ana: ",
        "**Ana**: ",
        "[2026-01-01 10:00] Ana: ",
        "(0.83) ",
        "Memory 2: ",
        "[a-1] ",
        "ops · general · message · Ana · 2026-01-01 10:00 · id a-1 — ",
        "According to Ana: ",
        "night | Ana | ",
    ],
)
def test_a_head_says_nothing_but_what_is_known_of_a_result(head: str) -> None:
    text = head + SAID
    (run,) = [run for run in runs(text, 40) if text[run.start : run.end] == SAID]
    assert run.keys[:2] == keys_of(SAID)
    assert fits(text[run.opens : run.start], source())


@pytest.mark.parametrize(
    "head", ["Wrong: ", "Ben: ", "Not Ana: ", "[2026-01-02 10:00] ", "Ana denied: ", "a: ", "at: ", "[b-1] ", "TODO: "]
)
def test_a_head_that_says_more_is_none(head: str) -> None:
    assert not fits(head, source(source_id="x"))


@pytest.mark.parametrize(
    "line", ["", "---", "Context:", "# Relevant memories", "</memory>", "What you remember:", "Kontext:"]
)
def test_a_frame_tells_nothing(line: str) -> None:
    assert is_frame(line)


@pytest.mark.parametrize("line", ["👍", "?!", "Context", "No memories:", "Ana:", "# Ana", "Yes.", "I remember"])
def test_what_tells_something_is_no_frame(line: str) -> None:
    assert not is_frame(line)


def test_lines_in_a_row_are_looked_up_as_one_text() -> None:
    text = "Memory: > **First** line of it,\n\nthe second one.\n- The third line (Ana)"
    found = runs(text, 14)
    for run in found:
        assert run.keys[:2] == keys_of(text[run.start : run.end])
    assert {text[8:], "The third line", "the second one.\n- The third line"} <= words(text, found)
    assert [run.end - run.start for run in found] == sorted((run.end - run.start for run in found), reverse=True)


def test_what_was_cut_is_looked_up_by_what_is_left() -> None:
    text = "Ana: The deployment failed because the ca…"
    (run,) = [run for run in runs(text, 20) if run.start == 5]
    assert run.keys[-1] == cut_key(plain(text[5:-1]))
    assert run.is_cut
    assert not [run for run in runs(text, 60) if run.is_cut]


def test_what_is_said_around_a_result_ends_where_its_teller_goes_on() -> None:
    around = (
        '\n---\n    by: Ana\n    It broke caused by: rain\n        "It rained." (certainty 1)\n    also rain: It did.'
    )
    assert after_pasted(SAID + around, len(SAID)) == len(SAID + around)
    assert after_pasted(f"{SAID}{around}\n\nSo what?", len(SAID)) == len(SAID + around)
    assert after_pasted(f"{SAID}\n    my view: it rained", len(SAID)) == len(SAID)
    assert after_pasted(f"{SAID}\n---\nNo.", len(SAID)) == len(SAID)


@pytest.mark.parametrize(
    "text",
    [
        "a: " * 20_000,
        "a: b\n" * 12_000,
        "- a - b (c) [d]\n" * 3_500,
        "a…\n" * 20_000,
        "x\n\n" * 20_000,
        " " * 60_000,
        "x (y) " * 10_000,
        "[a] " * 15_000,
        ("[" + "a" * 200 + "\n") * 250,
        "<a>" * 20_000,
        "— " * 30_000,
        "· x" * 9_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    began = time.thread_time()
    found = runs(text, 1)
    after_pasted("\n" + text, 0)
    assert time.thread_time() - began < 1
    assert len(found) <= 500
    assert all(run.keys for run in found)
