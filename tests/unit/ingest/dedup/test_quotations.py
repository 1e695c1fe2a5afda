"""Where a text may repeat a memory."""

from __future__ import annotations

import time

import pytest

from vicw_ingest.dedup.detector import remove_parts
from vicw_ingest.dedup.quotations import CUT, block_end, blocks
from vicw_shared.model.text_keys import keys_of
from vicw_shared.wire.answer_format import AMBIGUOUS_LINE, UNSURE_LINE

ANSWER = """\
[1] ops · general · message · Ana · 2026-01-01 10:00 · id a
The deployment failed.

The cache was stale.
    by: Ana
    The deployment failed caused by: the cache was stale (certainty 0.95)
[2] ops · general · document · id b
Ben restarted the servers."""


def block_texts(text: str) -> list[list[str]]:
    return [[text[place.start : place.end] for place in block.texts] for block in blocks(text)]


def test_quotation_block_texts_are_runs_of_lines_below_its_header() -> None:
    text = f"Remember:\n{ANSWER}\n\nWho is Ben?"
    first, second = blocks(text)
    assert text[first.start :].startswith("[1] ops")
    assert block_texts(text)[0][:3:2] == ["The deployment failed.", "The deployment failed.\n\nThe cache was stale."]
    assert block_texts(text)[1][0] == "Ben restarted the servers."
    assert block_texts(text)[1][-1] == "Ben restarted the servers.\n\nWho is Ben?"
    assert text[first.texts[2].end : block_end(text, first.texts[2].end)].count("\n    ") == 2
    assert text[block_end(text, second.texts[0].end) :] == "\n\nWho is Ben?"
    assert first.numbered


def test_quoted_memories_of_a_window_start_on_their_header_line() -> None:
    text = "<memory>\n[2026-01-01 10:00 · Ana] The deployment failed.\n    after: Ben came.\n</memory>"
    (block,) = blocks(text)
    assert text[block.texts[0].start : block.texts[0].end] == "The deployment failed."
    assert text[block_end(text, block.texts[0].end) :] == "\n</memory>"
    assert not block.numbered


def test_a_block_in_markdown_quotes_keeps_its_text_keys_and_end() -> None:
    text = "".join(f"> {line}\n" for line in ANSWER.split("\n"))
    first, second = blocks(text)
    whole = next(place for place in first.texts if text[: place.end].endswith("The cache was stale."))
    assert whole.keys == keys_of("The deployment failed.\n\nThe cache was stale.")
    assert text[block_end(text, whole.end) :].startswith("\n> [2] ops")
    assert second.texts[0].keys == keys_of("Ben restarted the servers.")


def test_the_quotation_marks_of_an_answer_are_no_part_of_its_texts() -> None:
    answer = (
        ANSWER.replace("\nThe dep", "\n> The dep")
        .replace("\n\nThe cache", "\n>\n> The cache")
        .replace("\nBen", "\n> Ben")
    )
    for text in (answer, "".join(f"> {line}\n" for line in answer.split("\n"))):
        first, second = blocks(text)
        whole = next(place for place in first.texts if text[: place.end].endswith("The cache was stale."))
        assert whole.keys == keys_of("The deployment failed.\n\nThe cache was stale.")
        assert second.texts[0].keys == keys_of("Ben restarted the servers.")


def test_code_that_begins_with_quotation_marks_keeps_them() -> None:
    code = ">>> ferry()\n'left'\n>>> ferry()\n'left'"
    quoted = "\n".join(f"> {line}" for line in code.split("\n"))
    for text in (
        f"[1] repo · coding · code\n{code}",
        f"[1] repo · coding · code\n{quoted}",
        f"[repo] {code[:11]}\n{quoted[14:]}",
    ):
        (block,) = blocks(text)
        assert block.texts[3].keys == keys_of(code)


def test_a_truncated_quotation_gets_a_prefix_key_if_long_enough() -> None:
    text = "[1] ops · message\nThe deployment failed because the ca…"
    (block,) = blocks(text, 20)
    assert block.texts[0].keys[-1] == CUT + "the deployment failed because the ca..."[:-3]
    assert len(blocks(text, 60)[0].texts[0].keys) == 2


@pytest.mark.parametrize(
    "text",
    [
        "[1] a · b\n" * 20_000,
        "[x] y\n" * 30_000,
        ("[1] a · b\n" + "line\n" * 59) * 600,
        "a. " * 60_000,
        '"a" ' * 5_000,
        "```\n" * 5_000,
        "[1] " + " · " * 5_000,
        "x\n\n" * 6_000,
        "\n    a: b" * 20_000,
    ],
)
def test_hostile_texts_are_scanned_for_quotations_in_bounded_time(text: str) -> None:
    began = time.thread_time()
    found = blocks(text)
    block_end(text, 0)
    assert time.thread_time() - began < 3
    assert len(found) <= 100


def test_what_is_left_beside_a_quotation_keeps_its_indentation() -> None:
    text = "[1] ops · general\nStale.\n\n    - berth 1\n    - berth 2\n"
    assert remove_parts(text, [(0, text.index("Stale.") + 6)]) == "    - berth 1\n    - berth 2"


def test_what_says_that_a_question_is_ambiguous_is_part_of_the_blocks_below_it() -> None:
    line = AMBIGUOUS_LINE.format(domains="ops, story")
    answer = f"{UNSURE_LINE}\n{line}\nIn ops:\n{ANSWER}\nIn story:\n[3] tale · story · id c\nThe wizard restarted."
    for text in (answer, "\n".join(f"> {one}" for one in answer.split("\n"))):
        first, second, third = blocks(f"Recalled:\n{text}")
        assert f"Recalled:\n{text}"[: first.start] == "Recalled:\n"
        assert second.texts[-1].keys == keys_of("Ben restarted the servers."), "not the heading below it"
        assert third.texts[-1].keys == keys_of("The wizard restarted.")


def test_a_line_that_looks_like_the_heading_of_a_domain_is_new_text_unless_the_answer_is_ambiguous() -> None:
    text = f"In ops:\n{ANSWER}"
    assert text[: blocks(text)[0].start] == "In ops:\n"
