"""What ``vicw hook`` sends, and where to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.clients.hook_command import PATIENCE, PATIENT, Requests, event, run, transcript
from support.processes.server import eventually
from vicw_standalone.agent_hooks import hook, hook_server
from vicw_stores.data_dir import DataDir

pytestmark = pytest.mark.usefixtures("checkout")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_turns_and_prompts_are_sent_without_secrets_wherever_to(tmp_path: Path, requests: Requests, host: str) -> None:
    url = requests.url.replace("127.0.0.1", host)  # a name of this machine may be the beginning of a tunnel
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    path = transcript(tmp_path, f"Use {token} to push.", "Not this. #vicw-off", "And then deploy.")
    path.write_text(path.read_text() + "broken\n")
    events = (
        event("PreCompact", tmp_path, transcript_path=str(path)),
        event("UserPromptSubmit", tmp_path, prompt=f"Is {token} valid?"),
    )
    answers = [hook.answer_event(sent, "codex", "alpha", url, captures=True) for sent in events]
    assert answers[0] == {
        "systemMessage": "VICW: 1 lines of the transcript could not be read: line 4 is not JSON",
    }
    (stored, compacted, asked) = requests
    assert stored[0] == "/hooks/session"
    assert [turn["id"] for turn in stored[1]["turns"]] == ["u0", "u2"]
    assert {name: stored[1][name] for name in ("event", "context", "session", "source")} == {
        "event": "turns",
        "context": "alpha",
        "session": "s1",
        "source": "codex",
    }
    assert compacted == ("/hooks/session", {"event": "compact", "context": "alpha", "session": "s1"})
    assert asked[0] == "/hooks/codex?context=alpha"
    assert asked[1].keys() == {"hook_event_name", "session_id", "prompt"}
    assert token not in json.dumps(requests)


def test_a_turn_that_is_refused_costs_no_other(tmp_path: Path, requests: Requests) -> None:
    requests.refused_word = "Fridays"
    again = tmp_path / "again"
    again.mkdir()
    path = transcript(tmp_path, *(f"Step {number}." for number in range(4)), "We deploy on Fridays.", "Done.")
    path.write_text(path.read_text() + transcript(again, "Step 0, again.").read_text())
    end = event("PreCompact", tmp_path, transcript_path=str(path))
    url = requests.url.replace("127.0.0.1", "127.0.0.2")
    assert hook.answer_event(end, "codex", "alpha", url, captures=True) == {
        "systemMessage": "VICW: turn u4 cannot be stored: turns[0].text: is refused"
    }
    taken = [body["turns"] for _, body in requests if "turns" in body and "Fridays" not in json.dumps(body)]
    texts = [item["text"] for items in taken for item in items]
    assert sorted(texts) == ["Done.", "Step 0, again.", "Step 1.", "Step 2.", "Step 3."]


def test_this_users_server_alone_is_given_the_path_with_the_token_of_its_lock_file(
    tmp_path: Path, requests: Requests, own_server: DataDir
) -> None:
    path = str(transcript(tmp_path, "One."))
    end = event("SessionEnd", tmp_path, transcript_path=path)
    for url in (requests.url, requests.url.replace("127.0.0.1", "localhost"), None):
        hook.answer_event(end, "codex", "alpha", url, captures=True)
    assert [path for path, _ in requests] == ["/hooks/codex?context=alpha"] * 3
    assert {json.dumps(body, sort_keys=True) for _, body in requests} == {
        json.dumps({"hook_event_name": "SessionEnd", "session_id": "s1", "transcript_path": path}, sort_keys=True)
    }
    assert requests.owner_tokens == [own_server.owner_token] * 3
    stop = event("Stop", tmp_path, transcript_path=path)
    other = requests.url.replace("127.0.0.1", "127.0.0.2")
    hook.answer_event(stop, "codex", "alpha", other, captures=True)
    hook.answer_event(event("UserPromptSubmit", tmp_path, prompt="x"), "codex", "alpha", requests.url, captures=True)
    own_server.record_address("http://127.0.0.1:9")
    hook.answer_event(stop, "codex", "alpha", requests.url, captures=True)
    assert [path for path, _ in requests[3:]] == ["/hooks/session", "/hooks/codex?context=alpha", "/hooks/session"]
    assert requests.owner_tokens[3:] == [None] * 3, "no other server learns the token"


def test_what_listens_at_the_usual_port_gets_turns_only_if_it_wants_them(
    tmp_path: Path, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_server, "USUAL_ADDRESS", requests.url)
    stop = event("Stop", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    hook.answer_event(stop, "codex", "alpha", None, captures=True)
    assert [path for path, _ in requests] == ["/hooks/codex?context=alpha"]
    requests.wants_turns = True  # as a server in a container does
    hook.answer_event(stop, "codex", "alpha", None, captures=True)
    assert [path for path, _ in requests[1:]] == ["/hooks/codex?context=alpha", "/hooks/session"]
    assert requests.owner_tokens == [None] * 3


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the agent waits")
def test_turns_are_sent_where_the_server_cannot_read_them_and_the_agent_does_not_wait(
    tmp_path: Path, requests: Requests, own_server: DataDir
) -> None:
    requests.wants_turns = True  # such as one in a container, which is called by a name of this machine
    requests.may_answer.clear()
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, *("One.", "Two.") * 60)))
    done = run(end, "codex", "--url", requests.url, "--context", "alpha")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    eventually(lambda: len(requests), lambda count: count == 2, PATIENCE, "the first turns arrive")
    assert requests.ended == [], "it has not ended with the agent's hooks"
    requests.may_answer.set()
    eventually(lambda: len(requests), lambda count: count == 3, PATIENCE, "the other turns arrive")
    sent = [item["text"] for _, body in requests[1:] for item in body["turns"]]
    assert sent == ["One.", "Two."] * 60


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there the agent waits")
def test_turns_that_nobody_takes_are_not_sent_for_ever(tmp_path: Path, requests: Requests) -> None:
    requests.may_answer.clear()
    program = (
        "from vicw_standalone.agent_hooks import hook; hook._APART_SECONDS = 2\n"
        "from vicw_standalone.__main__ import main; main()"
    )
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    run(end, "codex", "--url", requests.url, "--context", "alpha", program=program)
    eventually(lambda: requests.ended, bool, hook.OFFLOAD_SECONDS - 10, "it ends")


def test_without_processes_of_its_own_the_turns_are_sent_before_the_end(
    tmp_path: Path, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")
    end = event("SessionEnd", tmp_path, transcript_path=str(transcript(tmp_path, "One.")))
    assert hook.answer_event(end, "codex", "alpha", requests.url, captures=True) == {}
    assert [path for path, _ in requests] == ["/hooks/session"]


def test_two_checkouts_of_one_name_are_told_of_once(tmp_path: Path, requests: Requests) -> None:
    first, second, third = (tmp_path / place / "app" for place in ("work", "fork", "mine"))
    for folder in (first, second, third):
        (folder / ".git").mkdir(parents=True)

    def begin(folder: Path, context: str | None = None) -> str:
        answer = hook.answer_event(
            event("SessionStart", folder, source="startup"), "codex", context, requests.url, captures=True
        )
        return str(answer.get("systemMessage", ""))

    assert begin(third, "mine") == begin(first) == begin(first) == ""
    assert begin(second).startswith(f"VICW: {second} and {first} share the memory 'app'")
    assert begin(second) == begin(first) == ""
    (first / ".git").rmdir()
    (second / ".git").rmdir()
    assert begin(third) == "", "the others are gone"
    (tmp_path / "data-checkouts.json").write_text('{"app": 3, "broken')
    assert begin(second / ".." / "app") == begin(third) == ""


@pytest.mark.process
def test_outside_of_a_checkout_nothing_is_sent_unless_a_context_is_named(tmp_path: Path, requests: Requests) -> None:
    (tmp_path / ".git").rmdir()
    path = str(transcript(tmp_path, "One."))
    for name in ("SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"):
        sent = event(name, tmp_path, prompt="Which port?", transcript_path=path)
        done = run(sent, "claude-code", "--url", requests.url, "--verbose", *PATIENT)
        assert (done.stdout, done.returncode) == ("", 0)
        assert "is in no Git checkout; name a context with --context or VICW_CONTEXT" in done.stderr
    assert requests == []
    run(event("UserPromptSubmit", tmp_path, prompt="x"), "codex", "--url", requests.url, VICW_CONTEXT="novel")
    assert [path for path, _ in requests] == ["/hooks/codex?context=novel"]
