"""The questions of the requirements, asked of what plain text was ingested: the right chain, proof and domain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.processes.server import Server, require_clean, temporary_directory
from vicw_shared.uids import chunk_uid

NOTES = [
    {
        "id": "pool",
        "speaker": "Ben",
        "timestamp": "2026-03-02T09:10:00Z",
        "text": "The server is throwing a 500 error because the connection pool is exhausted.",
    },
    {
        "id": "leak",
        "speaker": "Ana",
        "timestamp": "2026-03-02T09:40:00Z",
        "text": "I looked into it. The connection pool is exhausted because the nightly report leaks its sessions.",
    },
    {
        "id": "lunch",
        "speaker": "Ben",
        "timestamp": "2026-03-02T12:00:00Z",
        "text": "Lunch was late today, and the coffee machine is broken again.",
    },
]
CODE = '''class Wizard:
    """A dialog that leads through the set-up of a server, page by page."""

    def next_page(self, answers):
        """Check the answers of a page and show the one after it."""
        self.validate(answers)
        return self.pages[self.index + 1]
'''
STORY = [
    {"id": "s1", "text": "The Wizard Orlen kept his tower by the northern sea. He had a grey beard and feared nobody."},
    {"id": "s2", "text": "On the third night an explosion tore the tower open."},
    {"id": "s3", "text": "Orlen crawled out of the ruins, and the villagers carried him to the mill."},
    {"id": "s4", "text": "In the morning he swore to find whoever had lit the powder."},
]
CHAT = [
    {"id": "old", "speaker": "Ana", "timestamp": "2026-03-10T08:00:00Z", "text": "Shall we paint the fence green?"},
    {"id": "q", "speaker": "Ana", "timestamp": "2026-03-10T14:49:00Z", "text": "Which hotel do we take in Porto?"},
    {"id": "a", "speaker": "Ben", "timestamp": "2026-03-10T14:51:00Z", "text": "The one by the river has breakfast."},
    {"id": "new", "speaker": "Ana", "timestamp": "2026-03-10T14:59:30Z", "text": "The taxi is here, bye!"},
]


STORED = (
    {"context": "ops", "domain": "coding", "flow_id": "incident", "items": NOTES},
    {
        "context": "installer",
        "domain": "coding",
        "items": [{"id": "wizard.py", "source": "src/wizard.py", "text": CODE}],
    },
    {"context": "The Tower", "domain": "creative", "flow_id": "chapter 1", "items": STORY},
    {"context": "holidays", "domain": "general", "items": CHAT},
)


@pytest.fixture(scope="module")
def http(models_dir: Path) -> Iterator[httpx.Client]:
    """A server that has all of it, read by rules, in one memory."""
    with temporary_directory() as directory:
        server = Server(directory / "data", models_dir)
        server.start()
        try:
            with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
                for request in STORED:
                    told = client.post("/ingest", json={**request, "extract": "rules", "wait": True})
                    assert told.status_code == 201, told.text
                yield client
        finally:
            server.stop(within=15)
        require_clean(server)


def ask(http: httpx.Client, query: str, **fields: Any) -> dict[str, Any]:
    answer = http.post("/retrieve", json={"query": query, **fields})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["degraded"] == []
    return found


def ids(answer: dict[str, Any]) -> list[str]:
    return [result["id"] for result in answer["results"]]


def test_why_is_the_server_throwing_a_500_error(http: httpx.Client) -> None:
    answer = ask(http, "Why is the server throwing a 500 error?")
    assert (answer["intent"]["domain"], answer["intent"]["task"]) == ("coding", "fix_bug")
    assert ids(answer)[0] == "pool"
    nodes = {node["uid"]: node for node in answer["graph"]["nodes"]}
    chain = answer["graph"]["chains"][0]
    names = [nodes[step["effect"]]["name"] for step in chain["steps"]] + [nodes[chain["steps"][-1]["cause"]]["name"]]
    assert [
        any(word in name for word in words)
        for name, words in zip(names, (("500",), ("pool",), ("leak", "sessions", "report")), strict=True)
    ] == [True] * 3, names
    assert [nodes[step["source_item"]]["id"] for step in chain["steps"]] == ["pool", "leak"]
    assert [step["proof"] for step in chain["steps"]] == [chunk_uid(step["source_item"], 0) for step in chain["steps"]]
    assert all(step["quote"] in " ".join(item["text"] for item in NOTES) for step in chain["steps"])
    assert chain["certainty"] == pytest.approx(chain["steps"][0]["certainty"] * chain["steps"][1]["certainty"])
    assert "why: " in answer["text"]


def test_what_happened_in_the_story_after_the_explosion(http: httpx.Client) -> None:
    answer = ask(http, "What happened in the story after the explosion?")
    assert answer["intent"]["domain"] == "creative"
    assert {result["context"] for result in answer["results"]} == {"The Tower"}
    assert ids(answer) in (["s2", "s3", "s4", "s1"], ["s2", "s4", "s3", "s1"]), "what was before comes last"
    assert answer["text"].index("crawled out") < answer["text"].index("swore to find")


def test_what_did_we_discuss_10_minutes_ago(http: httpx.Client) -> None:
    answer = ask(http, "What did we discuss 10 minutes ago?", query_time="2026-03-10T15:00:00Z")
    assert set(ids(answer)[:2]) == {"q", "a"}
    of_then = [result["id"] for result in answer["results"] if result["uid"] in answer["time"]["items"]]
    assert set(of_then) == {"q", "a"}, "what else comes back is not of that time"


def test_wizard_is_a_class_and_a_person(http: httpx.Client) -> None:
    code = ask(http, "What does the Wizard class do with the answers of a page?")
    assert code["intent"]["domain"] == "coding"
    assert ids(code)[0] == "wizard.py"
    assert {result["domain"] for result in code["results"]} == {"coding"}
    tale = ask(http, "Who carried the Wizard out of the ruins of his tower?")
    assert tale["intent"]["domain"] == "creative"
    assert "s3" in ids(tale)[:2]
    assert {result["domain"] for result in tale["results"]} == {"creative"}
    named = [http.post("/graph/find", json={"name": name}).json()["nodes"] for name in ("Wizard", "Wizard Orlen")]
    assert [(node["domain"], node["context"]) for nodes in named for node in nodes] == [
        ("coding", "installer"),
        ("creative", "The Tower"),
    ]
    assert named[0][0]["subtype"] == "class"
    assert named[1][0]["subtype"] != "class"
