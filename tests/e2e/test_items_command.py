"""``vicw items`` and ``vicw contexts`` on a real server, which they find by its data directory."""

from __future__ import annotations

import json
import subprocess

import httpx
import pytest

from support.processes.server import VICW, Server

pytestmark = pytest.mark.process
CONTEXT = "Allotment"
ITEMS = [
    {
        "id": "bed/1#a",
        "text": "Ida sowed \x1b[31mbeetroot.",
        "speaker": "Ida",
        "metadata": {"bed": 1},
        "tags": ["sown"],
    },
    {"text": "Omar mended the water butt.", "speaker": "Omar", "metadata": {"bed": 2}},
]


@pytest.fixture(scope="module")
def uids(http: httpx.Client) -> list[str]:
    told = [item | {"timestamp": f"2026-04-0{day}T09:00:00Z"} for day, item in enumerate(ITEMS, start=1)]
    answer = http.post("/ingest", json={"context": CONTEXT, "items": told}).raise_for_status()
    return [item["uid"] for item in answer.json()["items"]]


def vicw(server: Server, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in server.environment.items() if name != "VICW_URL"}
    environment |= {"VICW_DATA_DIR": str(server.data_dir), "COLUMNS": "200"}
    command = [str(VICW), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=environment, input=given, timeout=60, check=False
    )


def test_items_are_listed_a_line_each_or_as_json(server: Server, uids: list[str]) -> None:
    listed = vicw(server, "items", "list", CONTEXT)
    assert listed.stderr == ""
    first, second = listed.stdout.splitlines()
    assert first.startswith("2026-04-02 09:00Z") and uids[1] in first and "Omar: Omar mended" in first
    assert "bed/1#a" in second and "\x1b" not in second, "no escape sequence reaches the terminal"
    chosen = vicw(server, "items", "list", "--filter", '{"metadata.bed": {"lt": 2}}', "--tag", "sown", "--json")
    assert [item["id"] for item in json.loads(chosen.stdout)] == ["bed/1#a"]
    earliest = vicw(server, "items", "list", CONTEXT, "--asc", "--limit", "1")
    assert len(earliest.stdout.splitlines()) == 1 and "bed/1#a" in earliest.stdout
    nothing = vicw(server, "items", "list", CONTEXT, "--speaker", "Nobody")
    assert (nothing.stdout, "Nothing found" in nothing.stderr) == ("", True)


@pytest.mark.parametrize(
    ("text", "problem"),
    [('{"colour": 1}', "filter: has no field 'colour'"), ("[]", "no JSON object"), ("{", "no JSON")],
)
def test_a_wrong_filter_is_an_error_that_names_it(server: Server, text: str, problem: str) -> None:
    refused = vicw(server, "items", "list", "--filter", text)
    assert (refused.returncode != 0, problem in refused.stderr) == (True, True), refused.stderr


def test_an_item_is_shown_changed_and_retracted(server: Server, uids: list[str]) -> None:
    shown = vicw(server, "items", "show", "bed/1#a", "--context", CONTEXT)
    assert '{"bed": 1}' in shown.stdout and "beetroot." in shown.stdout and "Ida" in shown.stdout
    changed = vicw(server, "items", "edit", uids[1], "-", given='{"tags": ["mended"], "metadata": {"bed": null}}')
    assert (changed.returncode, "version 2" in changed.stdout) == (0, True), changed.stderr
    uid = changed.stdout.split()[-1]
    stale = vicw(server, "items", "edit", uids[1], '{"tags": []}', "--if-version", "1")
    assert (stale.returncode, "has version 2" in stale.stderr) == (1, True)
    item = json.loads(vicw(server, "items", "show", uid, "--json").stdout)
    assert (item["tags"], item["metadata"], item["text"]) == (["mended"], {}, ITEMS[1]["text"])
    unnamed = vicw(server, "items", "edit", "bed/1#a", "{}")
    assert (unnamed.returncode, "--context" in unnamed.stderr) == (2, True)
    assert "cannot be changed" in vicw(server, "items", "edit", uids[1], '{"id": "x"}').stderr
    assert vicw(server, "items", "retract", uid).returncode == 0
    assert "Omar" not in vicw(server, "items", "list", CONTEXT).stdout
    assert "Omar" in vicw(server, "items", "list", CONTEXT, "--retired").stdout


def test_an_item_is_replaced_by_another_and_holds_again(server: Server) -> None:
    named = ("new", "old", "--context", "Moves")
    items = [{"id": "old", "text": "The ladder is in the shed."}, {"id": "new", "text": "The ladder is in the garage."}]
    with httpx.Client(base_url=server.url, timeout=60) as http:
        http.post("/ingest", json={"context": "Moves", "items": items}).raise_for_status()
        assert "past since" in vicw(server, "items", "supersede", *named).stdout
        assert "as before" in vicw(server, "items", "supersede", *named).stdout
        found = http.post("/retrieve", json={"query": "Where is the ladder?", "context": "Moves"}).json()
        assert [one["id"] for one in found["results"]] == ["new"]
    assert "old: holds" in vicw(server, "items", "supersede", *named, "--undo").stdout
    circle = vicw(server, "items", "supersede", "new", "new", "--context", "Moves")
    assert (circle.returncode, "same item" in circle.stderr) == (1, True), circle.stderr
    assert "--context" in vicw(server, "items", "supersede", "new", "old").stderr


def test_contexts_are_listed_with_what_they_hold(server: Server, uids: list[str]) -> None:
    lines = vicw(server, "contexts", "Allot").stdout.splitlines()
    assert lines[0].split() == ["context", "items", "characters", "domains", "first", "last"]
    assert [line.split()[0] for line in lines[1:]] == [CONTEXT]
    (context,) = json.loads(vicw(server, "contexts", CONTEXT, "--json").stdout)
    assert (context["context"], context["domains"]) == (CONTEXT, {"general": context["items"]})
    assert "No contexts" in vicw(server, "contexts", "no such").stderr
