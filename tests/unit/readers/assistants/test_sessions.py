"""Sessions of agents as files: the turns that their hooks would store, with the same ids, tool calls and subagents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vicw_readers.intake.source_file import ImportOptions
from vicw_readers.paths import read_paths
from vicw_readers.records import Noted, Refused, Skipped, SourceItem


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return path


def test_a_session_of_claude_code_is_a_flow_of_its_project(tmp_path: Path) -> None:
    line = {"sessionId": "s1", "cwd": "/work/alpha", "timestamp": "2026-11-02T08:00:00.000Z"}
    file = write(
        tmp_path / "0a6a.jsonl",
        {"type": "summary", "summary": "The port", "leafUuid": "x"},
        {**line, "type": "user", "uuid": "u1", "message": {"role": "user", "content": "Which port?"}},
        "cut {",
        {
            **line,
            "type": "assistant",
            "uuid": "a1",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "9443."}]},
        },
    )
    records = list(read_paths([file]))
    (refused,) = [one for one in records if isinstance(one, Refused)]

    assert (refused.line, refused.reason) == (3, "is not JSON")
    found = [one for one in records if isinstance(one, SourceItem)]
    assert [(one.context, one.item.id, one.item.speaker, one.item.source) for one in found] == [
        ("alpha", "u1", "user", "claude-code"),
        ("alpha", "a1", "assistant", "claude-code"),
    ]
    assert {one.flow_id for one in found} == {"s1"}
    (named, *_) = [one for one in read_paths([file], ImportOptions(context="mine")) if isinstance(one, SourceItem)]
    assert named.context == "mine"


def test_a_session_of_codex_is_read_and_items_still_are_items(tmp_path: Path) -> None:
    session = write(
        tmp_path / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "c1", "cwd": "/work/beta"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Which port?"}},
    )
    (turn,) = read_paths([session])
    assert isinstance(turn, SourceItem)
    assert (turn.context, turn.flow_id, turn.item.id, turn.item.source) == ("beta", "c1", "c1:2", "codex")
    items = write(tmp_path / "items.jsonl", {"id": "1", "text": "a", "metadata": {"type": "user"}})
    (item,) = read_paths([items])
    assert isinstance(item, SourceItem)
    assert (item.context, item.item.id) == ("items", "1")


def of(records: Any) -> list[SourceItem]:
    return [one for one in records if isinstance(one, SourceItem)]


def claude(kind: str, uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content}
    time = "2026-11-02T08:00:00.000Z"
    return {
        "sessionId": "s1",
        "cwd": "/work/alpha",
        "timestamp": time,
        "type": kind,
        "uuid": uuid,
        "message": message,
    } | more


def used(call: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": tool, "input": given}


def gave(call: str, content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content} | more]


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


def test_tool_calls_are_a_flow_beside_the_talk_and_weigh_less(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s1.jsonl",
        claude("user", "u1", "Is the build green?"),
        claude("assistant", "a1", [*text("I run it."), used("t1", "Bash", command="make test")]),
        claude("user", "r1", gave("t1", [*text("2 failed"), {"type": "image", "source": {}}], is_error=True)),
        claude("assistant", "a2", [used("t2", "Read", file_path="/a.py", limit=3), used("t3", "Bash", command="ls")]),
        claude("user", "r2", gave("t2", "x" * 5_000)),
        claude("assistant", "a3", text("It is not.")),
    )
    items = of(read_paths([file]))
    talk = [one.item for one in items if one.flow_id == "s1"]
    assert [(one.id, one.subtype) for one in talk] == [("u1", "message"), ("a1", "message"), ("a3", "message")]
    calls = {one.item.id: one.item for one in items if one.flow_id == "s1#tools"}
    assert list(calls) == ["t1", "t2", "t3"], "one without a result comes last"
    assert (calls["t1"].text, calls["t1"].name, calls["t1"].subtype) == (
        "Bash: make test\n\n2 failed",
        "Bash",
        "tool_call",
    )
    assert calls["t1"].metadata == {"flow": "s1", "turn": "a1", "failed": True}
    assert (calls["t1"].speaker, calls["t1"].importance) == (None, "temporary")
    assert calls["t2"].text == f"Read: file_path: /a.py\nlimit: 3\n\n{'x' * 2_000} [and 3000 characters more]"
    assert calls["t3"].text == "Bash: ls"


def test_recalled_memories_and_muted_prompts_leave_no_tool_call(tmp_path: Path) -> None:
    fence = "<vicw-memory>\n> The port is 9443.\n</vicw-memory>"
    file = write(
        tmp_path / "s1.jsonl",
        claude("user", "u1", "Which port?"),
        claude(
            "assistant", "a1", [used("t1", "mcp__vicw__recall", query="port"), used("t2", "Read", file_path="/log")]
        ),
        claude("user", "r1", [*gave("t1", "The port is 9443."), *gave("t2", f"started {fence}")]),
        claude("user", "u2", "Look up my diagnosis #vicw-off"),
        claude("assistant", "a2", [used("t3", "Read", file_path="/diagnosis")]),
        claude("user", "r2", gave("t3", "It is …")),
        claude("assistant", "a3", [*text("It says …"), used("t4", "Read", file_path="/letter")]),
        claude("user", "r3", gave("t4", "Dear …")),
    )
    assert [(one.item.id, one.item.text) for one in of(read_paths([file]))] == [
        ("u1", "Which port?"),
        ("t2", "Read: /log\n\nstarted"),
    ]


def subagent(folder: Path, agent: str, sidecar: dict[str, Any], *words: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"agent-{agent}.meta.json").write_text(json.dumps(sidecar), "utf-8")
    said = (claude("assistant" if n else "user", f"{agent}{n}", text(one)) for n, one in enumerate(words))
    write(folder / f"agent-{agent}.jsonl", *(line | {"isSidechain": True, "agentId": agent} for line in said))


def test_a_subagent_is_a_flow_that_names_its_parent_and_its_call(tmp_path: Path) -> None:
    task = used("t1", "Agent", description="Find it", prompt="Find the port.", subagent_type="Explore")
    write(
        tmp_path / "s1.jsonl",
        claude("user", "u1", "Which port?"),
        claude("assistant", "a1", [task]),
        claude("user", "r1", gave("t1", text("9443.")), toolUseResult={"agentId": "x1", "status": "completed"}),
    )
    folder = tmp_path / "s1" / "subagents"
    subagent(folder, "x1", {"agentType": "Explore", "toolUseId": "t1"}, "Find the port.", "It is 9443.")
    subagent(folder, "x2", {"parentAgentId": "x1", "toolUseId": "t9"}, "Read the log.", "Done.")
    records = list(read_paths([tmp_path], ImportOptions(context="mine")))
    assert [one.reason for one in records if isinstance(one, Skipped)] == [
        "says what a subagent is, whose session stands beside it"
    ] * 2
    items = of(records)
    (call,) = [one.item for one in items if one.item.subtype == "tool_call"]
    assert call.metadata["subagent_flow"] == "s1/agent-x1"
    said = [(one.flow_id, one.item.speaker, one.item.text) for one in items if one.item.subtype == "message"]
    assert said == [
        ("s1/agent-x1", "assistant", "Find the port."),
        ("s1/agent-x1", "Explore", "It is 9443."),
        ("s1/agent-x2", "assistant", "Read the log."),
        ("s1/agent-x2", "subagent", "Done."),
        ("s1", "user", "Which port?"),
    ]
    origins = {one.flow_id: one.item.metadata for one in items if one.item.id in {"x10", "x20"}}
    assert origins == {
        "s1/agent-x1": {"parent_flow": "s1", "parent_call": "t1"},
        "s1/agent-x2": {"parent_flow": "s1/agent-x1", "parent_call": "t9"},
    }


def test_a_subagent_of_a_muted_prompt_is_not_read(tmp_path: Path) -> None:
    write(
        tmp_path / "s1.jsonl",
        claude("user", "u1", "Look up my diagnosis #vicw-off"),
        claude("assistant", "a0", [used("t0", "Read", file_path="/diagnosis")]),
        claude("user", "r0", gave("t0", "It is …")),
        claude("assistant", "a1", [used("t1", "Agent", prompt="Look it up.")]),
        claude("user", "u2", "Which port?"),
        claude("assistant", "a2", [used("t2", "Agent", prompt="Find the port.")]),
    )
    folder = tmp_path / "s1" / "subagents"
    subagent(folder, "x1", {"toolUseId": "t1"}, "Look it up.")
    subagent(folder, "x2", {"toolUseId": "t2"}, "Find the port.")
    subagent(folder, "x3", {}, "Somebody's words.")
    assert {one.flow_id for one in of(read_paths([tmp_path]))} == {"s1", "s1#tools", "s1/agent-x2"}


def test_a_subagent_whose_session_is_not_there_is_read_with_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "s1" / "subagents"
    subagent(folder, "x1", {"toolUseId": "t1"}, "Look it up.")
    records = list(read_paths([folder / "agent-x1.jsonl"]))
    assert [one.item.id for one in of(records)] == ["x10"]
    (note,) = [one for one in records if isinstance(one, Noted)]
    assert "#vicw-off" in note.reason


def test_a_subagent_of_a_muted_prompt_that_goes_on_after_it_is_left_out_of_its_session(tmp_path: Path) -> None:
    inside: dict[str, Any] = {"isSidechain": True, "agentId": "x1"}
    write(tmp_path / "s1.jsonl", claude("user", "u0", "An older diagnosis #vicw-off"))
    file = write(
        tmp_path / "s2.jsonl",
        claude("user", "u1", "Look up my diagnosis #vicw-off"),
        claude("user", "x1", text("Look it up."), **inside),
        claude("user", "u2", "Which port?"),
        claude("assistant", "x2", [*text("It says …"), used("t1", "Read", file_path="/diagnosis")], **inside),
        claude("user", "y1", text("Find the port."), isSidechain=True, agentId="y1"),
        claude("assistant", "a2", text("9443.")),
    )
    assert [one.item.id for one in of(read_paths([file]))] == ["u2", "y1", "a2"]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-02T08:00:00.000Z", "type": kind, "payload": payload}


def thread(path: Path, own: str, parent: str | None, *words: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [codex("session_meta", id=own, cwd="/work/beta", parent_thread_id=parent)]
    for said in words:
        lines.append(codex("event_msg", type="user_message", message=said.split(" -> ")[0]))
        if " -> " in said:
            started = json.dumps({"agent_id": said.split(" -> ")[1]})
            lines.append(codex("response_item", type="function_call", name="spawn_agent", call_id=started))
            lines.append(codex("response_item", type="function_call_output", call_id=started, output=started))
    return write(path, *lines)


def test_threads_of_codex_that_a_muted_prompt_started_are_not_read(tmp_path: Path) -> None:
    sessions = tmp_path / "sessions"
    thread(sessions / "01" / "rollout-1-p.jsonl", "1-p", None, "My diagnosis #vicw-off -> 2-c", "The port? -> 3-c")
    thread(sessions / "01" / "rollout-2-c.jsonl", "2-c", "1-p", "Look it up. -> 4-c")
    thread(sessions / "02" / "rollout-3-c.jsonl", "3-c", "1-p", "Find the port.")
    last = thread(sessions / "02" / "rollout-4-c.jsonl", "4-c", "2-c", "Read the letter.")
    said = [one.item.text for one in of(read_paths([sessions])) if one.item.subtype == "message"]
    assert said == ["The port?", "Find the port."]
    assert any(isinstance(one, Noted) for one in read_paths([last]))


def test_subagents_within_the_file_of_a_session_are_told_apart(tmp_path: Path) -> None:
    def inside(uuid: str, before: str | None, kind: str, words: str) -> dict[str, Any]:
        return claude(kind, uuid, text(words), isSidechain=True, parentUuid=before)

    file = write(
        tmp_path / "s1.jsonl",
        claude("user", "u1", "Go."),
        inside("x1", None, "user", "Read a."),
        inside("y1", None, "user", "Read b."),
        inside("x2", "x1", "assistant", "A is read."),
        inside("y2", "y1", "assistant", "B is read."),
        claude("assistant", "a1", text("Done.")),
    )
    flows: dict[str | None, list[str]] = {}
    for one in of(read_paths([file])):
        flows.setdefault(one.flow_id, []).append(one.item.text)
    assert flows == {
        "s1": ["Go.", "Done."],
        "s1/agent-x1": ["Read a.", "A is read."],
        "s1/agent-y1": ["Read b.", "B is read."],
    }


def test_calls_and_threads_of_codex(tmp_path: Path) -> None:
    def called(kind: str, **payload: Any) -> dict[str, Any]:
        return codex("response_item", type=kind, **payload)

    file = write(
        tmp_path / "rollout-2.jsonl",
        codex(
            "session_meta",
            id="c2",
            cwd="/work/beta",
            source={"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1, "agent_role": "explorer"}}},
        ),
        codex("session_meta", id="c1", cwd="/work/beta", source="cli"),
        codex("event_msg", type="user_message", message="Find the port."),
        called("function_call", name="shell", arguments='{"command": ["rg", "port"]}', call_id="k1"),
        called("function_call_output", call_id="k1", output='{"output": "9443", "metadata": {"exit_code": 0}}'),
        called("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="k2"),
        called("custom_tool_call_output", call_id="k2", output="Failed"),
        called("function_call", name="spawn_agent", arguments='{"message": "Check it."}', call_id="k3"),
        called("function_call_output", call_id="k3", output='{"agent_id": "c3", "success": false}'),
        called("web_search_call", action={"type": "search", "query": "ports"}),
        called("message", role="assistant", content=[{"type": "output_text", "text": "It is 9443."}]),
    )
    items = [one.item for one in of(read_paths([file]))]
    talk = [(one.flow_id, one.speaker, one.text, one.metadata) for one in items if one.subtype == "message"]
    assert talk == [
        ("c2", "assistant", "Find the port.", {"parent_flow": "c1"}),
        ("c2", "explorer", "It is 9443.", {}),
    ]
    calls = [one for one in items if one.flow_id == "c2#tools"]
    assert [(one.id, one.text) for one in calls] == [
        ("c2:k1", "shell: rg port\n\n9443"),
        ("c2:k2", "apply_patch: *** Begin Patch\n\nFailed"),
        ("c2:k3", "spawn_agent: Check it.\n\nagent_id: c3\nsuccess: false"),
        ("c2:line-10", "web_search: type: search\nquery: ports"),
    ]
    assert calls[2].metadata == {"flow": "c2", "turn": "c2:3", "subagent_flow": "c3", "failed": True}


def test_a_result_nested_without_end_is_left_out(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = {"a": deep}
    file = write(tmp_path / "s1.jsonl", claude("assistant", "a1", [used("t1", "Bash", deep=deep)]))
    assert len(of(read_paths([file]))) == 1
