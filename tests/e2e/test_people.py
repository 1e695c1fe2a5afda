"""Who speaks, what a person told, and the timeline of a context, over HTTP: nothing tells of what is hidden."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.process

CONTEXT = "boats/2026 #1"
TURNS: list[dict[str, Any]] = [
    {
        "id": "a",
        "text": "I live in a houseboat.",
        "speaker": "Tove",
        "user": "t-1",
        "timestamp": "2026-02-03T10:00:00Z",
    },
    {"id": "b", "text": "The mast broke.", "speaker": "Tove", "user": "t-1", "timestamp": "2026-02-01T10:00:00Z"},
    {"id": "c", "text": "The sail is torn.", "speaker": "Tove the Elder", "user": "t-1"},
    {"id": "d", "text": "It rained.", "speaker": "Ivo", "timestamp": "2026-02-02T10:00:00Z"},
    {"id": "e", "text": "Nobody said this."},
]
HIDDEN = [
    {"id": "h", "text": "I am ill.", "speaker": "Sib", "user": "t-9", "about": ["Sib"], "sensitivity": "personal"},
    {"id": "i", "text": "I am well.", "speaker": "Tove", "user": "t-1", "about": ["Tove"], "sensitivity": "personal"},
]


@pytest.fixture(scope="module", autouse=True)
def stored(http: httpx.Client) -> None:
    http.post("/ingest", json={"context": CONTEXT, "flow_id": "f", "items": TURNS}).raise_for_status()
    http.post("/ingest", json={"context": CONTEXT, "items": HIDDEN}).raise_for_status()
    alone = {"id": "x", "text": "I am shy.", "about": ["Sib"], "sensitivity": "personal"}
    http.post("/ingest", json={"context": "boats/secret", "items": [alone]}).raise_for_status()


def users(http: httpx.Client, **params: Any) -> list[tuple[str | None, list[str], int]]:
    page = http.get("/users", params={"context": CONTEXT, **params}).raise_for_status().json()
    return [(one["user"], one["speakers"], one["items"]) for one in page["users"]]


def timeline(http: httpx.Client, context: str = CONTEXT, **params: Any) -> httpx.Response:
    path = context.replace(" ", "%20").replace("#", "%23")
    return http.get(f"/contexts/{path}/timeline", params=params)


def ids(http: httpx.Client, **params: Any) -> list[str]:
    return [item["id"] for item in timeline(http, **params).raise_for_status().json()["items"]]


def test_users_come_by_id_then_speakers_by_name(http: httpx.Client) -> None:
    everybody = [("t-1", ["Tove", "Tove the Elder"], 4), ("t-9", ["Sib"], 1), (None, ["Ivo"], 1)]
    assert users(http) == everybody
    assert users(http, prefix="t-9") == everybody[1:2]
    pages: list[tuple[str | None, int, int]] = []
    place: dict[str, Any] = {}
    while True:
        page = http.get("/users", params={"context": CONTEXT, "limit": 1, **place}).json()
        pages += [(one["user"], one["items"], one["contexts"]) for one in page["users"]]
        if page["next"] is None:
            break
        place = {"after": page["next"]}
    assert pages == [("t-1", 4, 1), ("t-9", 1, 1), (None, 1, 1)]
    (ivo,) = http.get("/users", params={"context": CONTEXT, "prefix": "Ivo"}).json()["users"]
    assert (ivo["first"], ivo["last"]) == ("2026-02-02T10:00:00Z", "2026-02-02T10:00:00Z")
    after = http.get("/users", params={"context": CONTEXT, "limit": 1}).json()["next"]
    for wrong in ({"after": "t-1"}, {"after": after}, {"after": after, "context": CONTEXT, "viewer": "Ivo"}):
        refused = http.get("/users", params=wrong)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "after")


def test_a_hidden_users_items_are_in_no_number(http: httpx.Client) -> None:
    assert users(http, viewer="Ivo") == [("t-1", ["Tove", "Tove the Elder"], 3), (None, ["Ivo"], 1)]


def test_a_timeline_follows_either_time(http: httpx.Client) -> None:
    assert ids(http, flow="f") == ["b", "d", "a", "c", "e"]
    assert ids(http, flow="f", direction="desc", limit=2) == ["e", "c"]
    assert ids(http, order="happened") == ["b", "d", "a"], "the others have no time of their own"
    assert ids(http, order="happened", since="2026-02-02T00:00:00Z", until="2026-02-03T00:00:00Z") == ["d"]
    first = timeline(http, order="happened", limit=2).json()
    rest = timeline(http, order="happened", limit=2, cursor=first["next"]).json()
    assert ([item["id"] for item in rest["items"]], rest["next"]) == (["a"], None)
    assert set(ids(http)) - set(ids(http, viewer="Ivo")) == {"h", "i"}
    assert timeline(http, order="importance").json()["errors"][0]["field"] == "order"
    assert timeline(http, order="happened", flow="f", cursor=first["next"]).status_code == 422


def test_a_context_without_a_visible_item_is_as_unknown_as_any(http: httpx.Client) -> None:
    assert timeline(http, "boats/secret").status_code == 200
    hidden, unknown = timeline(http, "boats/secret", viewer="Ivo"), timeline(http, "boats/sealed", viewer="Ivo")
    assert (hidden.status_code, unknown.status_code) == (404, 404)
    assert hidden.json()["detail"].replace("secret", "sealed") == unknown.json()["detail"]
    assert timeline(http, since="2099-01-01T00:00:00Z").json() == {"items": [], "next": None}, "known, and empty then"


def test_a_profile_is_found_by_the_uid_of_a_person(http: httpx.Client) -> None:
    entities = http.get("/entities", params={"context": CONTEXT, "prefix": "Tove"}).json()["entities"]
    (uid,) = [one["uid"] for one in entities if one["name"] == "Tove"]
    profile = http.get(f"/people/{uid}/profile").raise_for_status().json()
    assert {one["id"] for one in profile["statements"]} == {"a", "i"}
    seen = http.get(f"/people/{uid}/profile", params={"viewer": "Ivo"}).json()
    assert ([one["id"] for one in seen["statements"]], seen["complete"]) == (["a"], True)
    assert http.get("/people/nobody/profile").status_code == 404
