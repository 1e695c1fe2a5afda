"""What agents write of their sessions, read as turns: whatever is not said by anybody is none."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest

from vicw_readers.assistants.agents.transcript import TranscriptReader, TranscriptTurn


def claude(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s1",
        "timestamp": "2026-11-02T08:00:00.000Z",
        "message": {"role": kind, "content": content},
        **more,
    }


def codex(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-11-02T08:00:00.000Z", "type": kind, "payload": payload}


def lines(*entries: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def read(data: bytes, reader: TranscriptReader | None = None) -> list[tuple[str, str, str]]:
    return [(one.id, one.speaker, one.text) for one in (reader or TranscriptReader("s1")).read(io.BytesIO(data))]


def test_a_kind_that_is_no_text_is_an_unknown_one() -> None:
    assert read(b'{"type": [], "payload": {}}\n' + lines(claude("user", "u1", "Hi"))) == [("u1", "user", "Hi")]


def test_the_words_of_a_claude_code_session_are_read_and_nothing_else() -> None:
    data = lines(
        {"type": "summary", "summary": "Fix the build", "leafUuid": "x"},
        claude("user", "u1", "Why does the build break?"),
        claude(
            "assistant",
            "a1",
            [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "The cache is stale."},
                {"type": "tool_use", "name": "Bash", "input": {"command": "make"}},
            ],
        ),
        claude("user", "u2", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]),
        claude("user", "u3", "Caveat: …", isMeta=True),
        claude("user", "u4", "This session is continued from …", isCompactSummary=True),
        claude("assistant", "a2", [{"type": "text", "text": "of a subagent"}], isSidechain=True),
        claude("user", "u5", "<command-name>/clear</command-name>"),
        claude("user", "u6", "Clear it<system-reminder>Be brief.</system-reminder> then."),
    )
    assert read(data) == [
        ("u1", "user", "Why does the build break?"),
        ("a1", "assistant", "The cache is stale."),
        ("u6", "user", "Clear it then."),
    ]


def test_the_words_of_a_codex_session_are_read_with_ids_that_stay() -> None:
    data = lines(
        codex("session_meta", {"id": "c1", "cwd": "/p", "cli_version": "0.130.0"}),
        codex(
            "response_item",
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "<environment_context>…"}],
            },
        ),
        codex("event_msg", {"type": "user_message", "message": "Which port?"}),
        codex("response_item", {"type": "reasoning", "summary": []}),
        codex("event_msg", {"type": "agent_message", "message": "It is 8080."}),
        codex(
            "response_item",
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is 8080."}]},
        ),
    )
    expected = [("c1:3", "user", "Which port?"), ("c1:6", "assistant", "It is 8080.")]
    assert read(data) == expected
    assert read(data + lines(codex("compacted", {"message": "a summary"}))) == expected


def test_recalled_memories_that_come_back_are_no_turn() -> None:
    recalled = "<vicw-memory>\n[x]\n> The port is 8080.\n</vicw-memory>"
    data = lines(claude("user", "u1", recalled), claude("user", "u2", f"{recalled}\nWhich port?"))
    assert read(data) == [("u2", "user", "Which port?")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Explain the <system-reminder> tag, and remember: we deploy on Fridays.", None),
        ("Why </system-reminder> before <system-reminder>?", None),
        ("<system-reminder>a</system-reminder>One <SYSTEM-reminder x='1'>b</system-reminder >two.", "One two."),
        (
            "One <system-reminder>a <system-reminder> b</system-reminder>two </system-reminder>",
            "One two </system-reminder>",
        ),
        ("One <system-reminder>a <vicw-memory> b</system-reminder> two", "One  two"),
        ("Which port? <vicw-memory>\n> It is 8080.", "Which port?"),
    ],
)
def test_only_what_stands_between_two_tags_is_cut_out_but_for_memories(text: str, said: str | None) -> None:
    assert read(lines(claude("user", "u1", text))) == [("u1", "user", said or text)]


@pytest.mark.parametrize("piece", ["<vicw-memory ", "<system-reminder>", "<system-reminder></vicw-memory>"])
def test_a_hostile_line_takes_no_more_than_its_length(piece: str) -> None:
    data = lines(claude("user", "u1", piece * 200_000))
    begun = time.process_time()
    assert len(read(data)) == 1
    assert time.process_time() - begun < 20, "what looks back at every tag takes minutes"


def test_a_muted_prompt_and_its_answers_are_not_read() -> None:
    data = lines(
        claude("user", "u1", "My diagnosis is … #vicw-off"),
        claude("assistant", "a1", [{"type": "text", "text": "I am sorry."}]),
        claude("user", "u2", "Back to the build."),
        claude("assistant", "a2", [{"type": "text", "text": "Sure."}]),
    )
    assert [turn for turn, _, _ in read(data)] == ["u2", "a2"]


def test_a_prompt_stays_muted_over_the_results_of_tools_until_the_next_prompt() -> None:
    data = lines(
        claude("user", "u1", "Look up my diagnosis #vicw-off"),
        claude("assistant", "a1", [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]),
        claude("user", "r1", [{"type": "tool_result", "tool_use_id": "t1", "content": "It is …"}]),
        claude("user", "r2", [{"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}]),
        claude("assistant", "a2", [{"type": "text", "text": "It says …"}]),
        claude("user", "u2", [{"type": "image", "source": {}}]),
        claude("assistant", "a3", [{"type": "text", "text": "A cat."}]),
    )
    assert [turn for turn, _, _ in read(data)] == ["a3"]


def test_a_transcript_that_grows_is_read_on_and_a_cut_line_is_told_of() -> None:
    whole = lines(claude("user", "u1", "One."), claude("user", "u2", "Two."))
    reader = TranscriptReader("s1")
    assert read(whole[:-20], reader) == [("u1", "user", "One.")]
    assert reader.summary() == "1 lines of the transcript could not be read: line 2 is cut off"
    assert read(whole, reader) == [("u2", "user", "Two.")]
    assert reader.summary() == ""
    assert read(whole, reader) == []


def test_a_last_line_without_its_end_is_read_once() -> None:
    whole = lines(claude("user", "u1", "One."))
    reader = TranscriptReader("s1")
    assert read(whole[:-1], reader) == [("u1", "user", "One.")]
    assert read(whole + lines(claude("user", "u2", "Two.")), reader) == [("u2", "user", "Two.")]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"not json\n", "is not JSON"),
        (b"[1]\n", "is not a JSON object"),
        (b'{"type": "user", "uuid": "x", "text": "new form"}\n', "is a line of the user without a message"),
        (b'{"type": "event_msg", "payload": {"type": "user_message"}}\n', "is a user's message without text"),
    ],
)
def test_a_line_that_cannot_be_read_costs_no_other(bad: bytes, reason: str) -> None:
    reader = TranscriptReader("s1")
    data = lines(claude("user", "u1", "One.")) + bad + lines(claude("user", "u2", "Two."))
    assert [turn for turn, _, _ in read(data, reader)] == ["u1", "u2"]
    assert reader.summary() == f"1 lines of the transcript could not be read: line 2 {reason}"


def test_a_transcript_of_an_unknown_form_says_so() -> None:
    reader = TranscriptReader("s1")
    assert read(b'{"kind": "said", "by": "user", "words": "Hello."}\n', reader) == []
    assert reader.summary() == "the transcript has no line of a known form"


def test_a_turn_has_the_time_of_its_line() -> None:
    (turn,) = TranscriptReader("s1").read(io.BytesIO(lines(claude("user", "u1", "One."))))
    assert turn == TranscriptTurn("u1", "user", "One.", "2026-11-02T08:00:00.000Z")
