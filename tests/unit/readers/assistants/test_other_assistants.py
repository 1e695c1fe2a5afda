"""Gemini, Open WebUI and LibreChat: turns with their times, on the branch that was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.files.records_of_file import items_in, refusals_in, said, skips_in, written

ACTIVITY: dict[str, Any] = {
    "header": "Gemini Apps",
    "title": "Prompted Which sail for light wind?",
    "time": "2026-03-02T09:15:00.250Z",
    "products": ["Gemini Apps"],
    "safeHtmlItem": [{"html": "<p>A <b>gennaker</b>.</p><ul><li>Light cloth</li></ul>"}],
    "attachedFiles": ["wind.csv"],
}


def test_a_prompt_of_gemini_has_its_answer_and_their_time(tmp_path: Path) -> None:
    earlier = {**ACTIVITY, "title": "Prompted And reefing?", "time": "2026-03-02T08:00:00Z", "safeHtmlItem": []}
    other = {"header": "Maps", "title": "Searched for a harbour", "time": "2026-03-02T07:00:00Z"}
    path = written(tmp_path / "MyActivity.json", [ACTIVITY, earlier, other, {**earlier, "time": "soon"}])
    items = sorted(items_in(path), key=lambda one: one.item.flow_step or 0)
    assert said(items) == [
        ("user", "And reefing?"),
        ("user", "Which sail for light wind?"),
        ("assistant", "A gennaker.\n\n- Light cloth"),
    ]
    assert {(one.context, one.flow_id) for one in items} == {("Gemini", "gemini#2026-03-02")}
    assert items[1].item.metadata == {"attachments": ["wind.csv"]}
    assert [one.reason for one in refusals_in(path)] == ["activity 4 has no time"]
    assert [one.reason for one in skips_in(path)] == ["has 1 activities of other products"]
    longer = written(
        tmp_path / "again/MyActivity.json", [{**ACTIVITY, "time": "2026-04-01T00:00:00Z"}, ACTIVITY, earlier]
    )
    assert {one.item.id for one in items} < {one.item.id for one in items_in(longer)}


def test_open_webui_gives_the_branch_that_was_shown(tmp_path: Path) -> None:
    def message(key: str, parent: str | None, role: str, content: str, **more: Any) -> dict[str, Any]:
        return {"id": key, "parentId": parent, "role": role, "content": content, "timestamp": 1756000000, **more}

    thought = '<details type="reasoning" done="true"><summary>Hm</summary>secret</details>\nAbout 80 percent.'
    messages = [
        message("h1", None, "user", "How wet is a ciabatta?", files=[{"name": "dough.jpg"}]),
        message("h2", "h1", "assistant", thought),
        message("h3", "h1", "assistant", "Regenerated."),
    ]
    history: dict[str, Any] = {"currentId": "h2", "messages": {one["id"]: one for one in messages}}
    export = {"id": "w1", "title": "Bread", "created_at": 1756000000, "chat": {"history": history, "messages": []}}
    items = items_in(written(tmp_path / "chat-export-1.json", [export]))
    assert said(items) == [
        ("user", "How wet is a ciabatta?\n\n[attached: dough.jpg]"),
        ("assistant", "About 80 percent."),
    ]
    assert [(one.context, one.item.id, one.flow_id, one.item.name) for one in items] == [
        ("Open WebUI", "w1#h1", "w1", "Bread"),
        ("Open WebUI", "w1#h2", "w1", "Bread"),
    ]
    history["currentId"] = None
    assert said(items_in(written(tmp_path / "x.json", export)))[1] == ("assistant", "Regenerated.")


def test_librechat_gives_the_newest_branch_flat_or_nested(tmp_path: Path) -> None:
    def message(key: str, parent: str, minute: int, text: str, **more: Any) -> dict[str, Any]:
        known = {"messageId": key, "parentMessageId": parent, "isCreatedByUser": key.startswith("q")}
        return {**known, "createdAt": f"2026-02-01T10:{minute:02}:00.000Z", "text": text, **more}

    root = "00000000-0000-0000-0000-000000000000"
    blocks = [{"type": "think", "think": "hm"}, {"type": "text", "text": {"value": "At six."}}]
    first, old = message("q1", root, 0, "When is high tide?"), message("a1", "q1", 1, "At five.")
    new = message("a2", "q1", 2, "", content=blocks)
    flat = {"conversationId": "l1", "title": "Tides", "messages": [first, old, new]}
    nested = {
        "conversationId": "l1",
        "title": "Tides",
        "recursive": True,
        "messages": [{**first, "children": [old, new]}],
    }
    for export in (flat, nested):
        items = items_in(written(tmp_path / "export.json", export))
        assert said(items) == [("user", "When is high tide?"), ("assistant", "At six.")]
        assert {(one.context, one.flow_id, one.reader) for one in items} == {("LibreChat", "l1", "librechat")}
