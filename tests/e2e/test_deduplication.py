"""Never again: an application that offloads what it was answered strengthens nothing."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.process

STORY = [
    ("Ana", "The explosion in the harbour broke the great window of the lantern room."),
    ("Ben", "Because the window was broken, the lantern went out and the red ship ran onto the rocks."),
    ("Ana", "Nineteen sailors were rescued by the keeper, who rowed out alone at dawn."),
]
QUESTION = {"query": "What happened after the explosion?", "context": "Orla", "limit": 5}


def ask(http: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = http.post("/retrieve", json=QUESTION).raise_for_status().json()
    return {field: answer[field] for field in ("results", "text", "graph")}


def offload(http: httpx.Client, *items: dict[str, Any], key: str, wait: bool = True) -> httpx.Response:
    body = {"context": "Orla", "wait": wait, "items": list(items)}
    return http.post("/ingest", json=body, headers={"Idempotency-Key": key}).raise_for_status()


def test_an_answer_stored_again_three_times_changes_no_later_answer(http: httpx.Client) -> None:
    turns = [
        {"id": f"t{n}", "speaker": speaker, "text": text, "timestamp": f"2026-01-19T10:0{n}:00Z", "flow_id": "night"}
        for n, (speaker, text) in enumerate(STORY)
    ]
    offload(http, *turns, key="story")
    before = ask(http)
    best = before["results"][0]
    for n in range(3):
        echoes = [
            {"text": before["text"], "speaker": "assistant", "flow_id": "night"},
            {"text": best["text"], "speaker": "assistant", "flow_id": "night"},
            {"text": f"> {best['text'].upper()}", "id": f"note-{n}", "name": best["name"]},
        ]
        wait = n < 2
        response = offload(http, *echoes, key=f"echo-{n}", wait=wait)
        assert response.status_code == (201 if wait else 202)
        items = response.json()["items"]
        assert {item["status"] for item in items} == {"linked"}
        assert items[1]["uid"] == items[2]["uid"] == best["uid"]
        assert [source["id"] for source in items[0]["sources"]] == [result["id"] for result in before["results"]]
        again = offload(http, *echoes, key=f"echo-{n}", wait=wait)
        assert again.json() == response.json()
        assert ask(http) == before


def test_new_text_beside_a_quoted_answer_is_stored_without_the_answer(http: httpx.Client) -> None:
    before = ask(http)
    prompt = f"{before['text']}\n\nQuestion: who paid for the repair of the lighthouse stairs?"
    (item,) = offload(http, {"text": prompt, "speaker": "user"}, key="prompt").json()["items"]
    assert (item["status"], {source["how"] for source in item["sources"]}) == ("created", {"answer"})
    found = http.post("/retrieve", json={**QUESTION, "query": "repair of the lighthouse stairs"}).json()["results"]
    assert found[0]["uid"] == item["uid"]
    assert found[0]["text"] == "Question: who paid for the repair of the lighthouse stairs?"
