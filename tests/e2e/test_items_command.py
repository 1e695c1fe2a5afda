"""``vicw items`` and ``vicw contexts`` on a real server, which they find by its data directory."""

from __future__ import annotations

import json
import subprocess
import time

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


def test_a_context_is_named_by_either_way(server: Server, uids: list[str]) -> None:
    listed = vicw(server, "items", "list", CONTEXT).stdout
    assert listed == vicw(server, "items", "list", "--context", CONTEXT).stdout != ""
    assert vicw(server, "items", "list", CONTEXT, "--context", CONTEXT).stdout == listed
    assert vicw(server, "items", "list", CONTEXT, "--context", "another").returncode == 2


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


def test_an_item_is_said_to_be_useful_and_wrong(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as http:
        body = {"context": "Sheds", "items": [{"id": "saw", "text": "The saw is behind the shed."}]}
        uid = http.post("/ingest", json=body).raise_for_status().json()["items"][0]["uid"]
        question = "Where is the saw?"
        assert "1 useful, 0 wrong" in vicw(server, "items", "feedback", uid, "useful", "--query", question).stdout
        by_id = vicw(server, "items", "feedback", "saw", "wrong", "--context", "Sheds", "--query", "The axe?")
        assert "1 useful, 1 wrong" in by_id.stdout, by_id.stderr
        asked = {"query": question, "context": "Sheds", "explain": True}
        told = http.post("/retrieve", json=asked).json()["explain"]["feedback"][uid]
        assert [(one["verdict"], one["query"]) for one in told["latest"]] == [
            ("wrong", "The axe?"),
            ("useful", question),
        ]
        said = vicw(server, "feedback", "Sheds", "--verdict", "wrong").stdout.splitlines()
        assert said[0].split()[2:] == ["1", "useful,", "1", "wrong", "Sheds", uid]
        assert [line.split(maxsplit=1) for line in said[1:]] == [["wrong", "The axe?"], ["useful", question]]
        (listed,) = json.loads(vicw(server, "feedback", "--json").stdout)
        assert (listed["uid"], listed["useful"], listed["wrong"]) == (uid, 1, 1)
        assert "Nothing was said" in vicw(server, "feedback", "no such context").stderr
        page = {"item": uid, "verdict": "fine", "query": ""}
        refused = http.post("/feedback", json=page)
        assert (refused.status_code, {one["field"] for one in refused.json()["errors"]}) == (422, {"verdict", "query"})
    unknown = vicw(server, "items", "feedback", "axe", "wrong", "--context", "Sheds", "--query", question)
    assert (unknown.returncode, "no item" in unknown.stderr) == (1, True)


def test_contexts_are_listed_with_what_they_hold(server: Server, uids: list[str]) -> None:
    lines = vicw(server, "contexts", "Allot").stdout.splitlines()
    assert lines[0].split() == ["context", "items", "characters", "domains", "first", "last"]
    assert [line.split()[0] for line in lines[1:]] == [CONTEXT]
    (context,) = json.loads(vicw(server, "contexts", CONTEXT, "--json").stdout)
    assert (context["context"], context["domains"]) == (CONTEXT, {"general": context["items"]})
    assert "No contexts" in vicw(server, "contexts", "no such").stderr


def test_stats_are_a_table_of_counts_or_json(server: Server, uids: list[str]) -> None:
    stats = json.loads(vicw(server, "stats", "--json").stdout)
    table = {line.rsplit(None, 1)[0].strip(): line.split()[-1] for line in vicw(server, "stats").stdout.splitlines()}
    assert stats["items"] >= 1 and stats["disk_bytes"] > 0
    assert (table["items"], table["contexts"]) == (f"{stats['items']:,}", f"{stats['contexts']:,}")
    assert table[f"stored on {stats['days'][-1]['day']}"] == f"{stats['days'][-1]['items']:,}"


@pytest.fixture(scope="module")
def picked(http: httpx.Client) -> list[str]:
    turns = [
        {"text": "I live next to the orchard.", "speaker": "Quill", "timestamp": "2026-04-03T09:00:00Z"},
        {"text": "The plums are ripe.", "speaker": "Rune", "user": "r-1", "timestamp": "2026-04-02T09:00:00Z"},
    ]
    answer = http.post("/ingest", json={"context": "Orchard", "items": turns}).raise_for_status()
    return [item["uid"] for item in answer.json()["items"]]


def test_a_timeline_is_a_line_an_item_or_json(server: Server, picked: list[str]) -> None:
    first, second = vicw(server, "timeline", "Orchard", "--happened").stdout.splitlines()
    assert "Rune: The plums" in first and "Quill: I live" in second
    (last,) = json.loads(vicw(server, "timeline", "Orchard", "--desc", "--limit", "1", "--json").stdout)
    assert last["uid"] == picked[0]
    unknown = vicw(server, "timeline", "no such")
    assert (unknown.returncode, "no context 'no such'" in unknown.stderr) == (1, True)


def test_users_are_a_table_or_json(server: Server, picked: list[str]) -> None:
    users = json.loads(vicw(server, "users", "--context", "Orchard", "--json").stdout)
    assert [(user["user"], user["speakers"], user["items"]) for user in users] == [
        ("r-1", ["Rune"], 1),
        (None, ["Quill"], 1),
    ]
    header, *rows = vicw(server, "users", "r-", "--context", "Orchard").stdout.splitlines()
    assert header.split() == ["user", "speaks", "as", "items", "contexts", "first", "last"]
    assert [row.split()[:4] for row in rows] == [["r-1", "Rune", "1", "1"]]
    assert "Nobody" in vicw(server, "users", "no such").stderr


def test_the_profile_of_a_person_is_shown(server: Server, picked: list[str]) -> None:
    (person,) = json.loads(vicw(server, "entities", "list", "Orchard", "Quill", "--json").stdout)
    shown = vicw(server, "entities", "profile", person["uid"]).stdout
    assert shown.split() == ["2026-04-03", "09:00Z", "home", "I", "live", "next", "to", "the", "orchard."]
    profile = json.loads(vicw(server, "entities", "profile", person["uid"], "--json").stdout)
    assert (profile["name"], len(profile["statements"])) == ("Quill", 1)


def test_events_are_a_line_each(server: Server, http: httpx.Client) -> None:
    before = f"{int((time.time() - 1) * 1e6)}-x"
    answer = http.post(
        "/ingest", json={"context": "Compost [red]", "items": [{"text": "Peelings."}]}
    ).raise_for_status()
    uid = answer.json()["items"][0]["uid"]
    shown = vicw(server, "events", "--after", before, "--no-follow", "--json")
    assert uid in {json.loads(line)["uid"] for line in shown.stdout.splitlines()}, shown.stderr
    lines = vicw(server, "events", "--after", before, "--no-follow").stdout
    assert f"Z  stored  {uid}  Compost [red]\n" in lines
    refused = vicw(server, "events", "--after", "x")
    assert (refused.returncode, "no id of an event" in refused.stderr) == (1, True)


def test_changes_are_a_table_or_json(server: Server, uids: list[str]) -> None:
    assert vicw(server, "items", "edit", uids[0], '{"tags": ["sown", "red"]}').returncode == 0
    changes = json.loads(vicw(server, "audit", "--json", "--limit", "1").stdout)
    assert [(change["kind"], change["count"]) for change in changes] == [("patch", 1)]
    header, first, *_ = vicw(server, "audit").stdout.splitlines()
    assert (header.split(), first.split()[2:]) == (["at", "change", "count", "key"], ["patch", "1", "-"])


def completed(server: Server, shell: str, *words: str, url: str | None = None) -> tuple[str, str]:
    environment = {name: value for name, value in server.environment.items() if name != "VICW_URL"}
    environment |= {"VICW_DATA_DIR": str(server.data_dir), "_VICW_COMPLETE": f"complete_{shell}"}
    environment |= {"COMP_WORDS": " ".join(("vicw", *words)), "COMP_CWORD": str(len(words))}
    environment |= {"_TYPER_COMPLETE_ARGS": environment["COMP_WORDS"], "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment |= {"VICW_URL": url} if url is not None else {}
    done = subprocess.run([str(VICW)], capture_output=True, text=True, env=environment, timeout=60, check=False)
    return done.stdout.strip(), done.stderr


def test_a_shell_completes_names_of_contexts(server: Server, http: httpx.Client, uids: list[str]) -> None:
    http.post("/ingest", json={"context": "Back yard's", "items": [{"text": "Nettles."}]}).raise_for_status()
    for command in (
        ("retrieve", "q", "--context"),
        ("timeline",),
        ("items", "show", "x", "--context"),
        ("items", "supersede", "x", "y", "--context"),
        ("contexts",),
        ("export", "--to", "x", "--context"),
        ("forget", "context"),
        ("forget", "item", "x", "--context"),
    ):
        assert completed(server, "bash", *command, "Allot") == ("Allotment", "")
    assert completed(server, "bash", "timeline", r"Back\ y") == (r"Back\ yard\'s", "")
    assert completed(server, "fish", "timeline", "Back") == ("Back yard's", "")
    assert completed(server, "bash", "timeline", "Nothing") == ("", "")
    assert completed(server, "bash", "timeline", "Allot", url="http://127.0.0.1:1") == ("", ""), "no server: silence"
