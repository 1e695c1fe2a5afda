"""What is stored is listed, counted off in pages and read whole over HTTP; a viewer gets no trace of what is hidden."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.process

CONTEXT = "Reading"
NOTES: list[dict[str, Any]] = [
    {
        "id": f"n{number}",
        "text": f"Note {number} about house {number % 3}.",
        "speaker": "Ana" if number % 2 else "Ben",
        "user": f"u{number % 2}",
        "timestamp": f"2026-01-{number + 1:02}T10:00:00Z",
        "tags": ["even"] if number % 2 == 0 else ["odd", "Sea"],
        "metadata": {"house": number % 3, "street": "Long Road"},
        "importance": 0.8 if number == 5 else None,
        "source": f"mail/{number}",
    }
    for number in range(12)
]
HIDDEN = {"id": "h/1#a", "text": "Ana is ill.", "about": ["Ana"], "sensitivity": "sensitive"}


@pytest.fixture(scope="module", autouse=True)
def stored(http: httpx.Client) -> None:
    items = [*NOTES, HIDDEN]
    http.post("/ingest", json={"context": CONTEXT, "flow_id": "f", "items": items}).raise_for_status()
    changed = {"id": "n5", "text": "Note 5, changed: the house is sold.", "metadata": {"house": 2}, "tags": ["sold"]}
    body = {"context": CONTEXT, "flow_id": "f", "items": [NOTES[5] | changed]}
    http.post("/ingest", json=body).raise_for_status()


def listed(http: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = http.get("/items", params={"context": CONTEXT, **params}).raise_for_status()
    page: dict[str, Any] = answer.json()
    return page


def ids(http: httpx.Client, **params: Any) -> list[str]:
    return [item["id"] for item in listed(http, **params)["items"]]


def refused(http: httpx.Client, path: str = "/items", **params: Any) -> list[tuple[str, str]]:
    answer = http.get(path, params=params)
    assert answer.status_code == 422, answer.text
    return [(error["field"], error["problem"]) for error in answer.json()["errors"]]


def test_the_items_of_a_context_come_in_pages(http: httpx.Client) -> None:
    everything = ids(http, limit=50, order="happened")
    assert everything == [f"n{number}" for number in range(11, -1, -1)] + ["h/1#a"]
    pages: list[list[str]] = []
    cursor: dict[str, str] = {}
    while True:
        page = listed(http, limit=5, order="happened", **cursor)
        pages.append([item["id"] for item in page["items"]])
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert [len(page) for page in pages] == [5, 5, 3]
    assert [one for page in pages for one in page] == everything


def test_an_item_has_its_fields_in_a_page(http: httpx.Client) -> None:
    (item,) = listed(http, filter=json.dumps({"id": "n4"}))["items"]
    assert (item["text"], item["speaker"], item["tags"]) == ("Note 4 about house 1.", "Ben", ["even"])
    assert item["metadata"] == {"house": 1, "street": "Long Road"}
    assert (item["told_at"], item["version"], item["source"]) == ("2026-01-05T10:00:00Z", 1, "mail/4")


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"speaker": "Ana", "tag": ["sea", "odd"], "until": "2026-01-05T00:00:00Z"}, ["n1", "n3"]),
        ({"user": "u0", "since": "2026-01-09T00:00:00Z"}, ["n8", "n10"]),
        ({"filter": {"metadata.house": {"gte": 2}, "not": {"speaker": "Ben"}}}, ["n5", "n11"]),
        ({"filter": {"any": [{"importance": {"gte": 0.5}}, {"source": {"in": ["mail/0"]}}]}}, ["n0", "n5"]),
        ({"filter": {"id": {"prefix": "h/"}}}, ["h/1#a"]),
        ({"filter": {"tags": {"none": ["even", "odd"]}}, "order": "told"}, ["n5", "h/1#a"]),
    ],
    ids=str,
)
def test_a_filter_chooses_items(http: httpx.Client, params: dict[str, Any], expected: list[str]) -> None:
    if "filter" in params:
        params = {**params, "filter": json.dumps(params["filter"])}
    assert ids(http, direction="asc", **params) == expected


def test_items_are_ordered_by_importance_and_arrival(http: httpx.Client) -> None:
    assert ids(http, order="importance", limit=1) == ["n5"]
    assert ids(http, order="arrival", direction="asc", limit=3) == ["n0", "n1", "n2"]
    assert ids(http, order="arrival", limit=1) == ["n5"]


def test_retired_versions_are_listed_on_request(http: httpx.Client) -> None:
    chosen = {"filter": json.dumps({"id": "n5"}), "order": "arrival", "direction": "asc"}
    assert [item["version"] for item in listed(http, **chosen)["items"]] == [2]
    versions = listed(http, include="retired", **chosen)["items"]
    assert [(item["version"], item["retired_at"] is None) for item in versions] == [(1, False), (2, True)]


def test_one_item_is_read_whole_by_each_of_its_addresses(http: httpx.Client) -> None:
    item = http.get("/items/n5", params={"context": CONTEXT}).raise_for_status().json()
    assert http.get(f"/items/{item['uid']}").raise_for_status().json() == item
    assert listed(http, id="n5") == item
    assert item["text"] == "Note 5, changed: the house is sold."
    assert (item["tags"], item["metadata"], item["importance"]) == (["sold"], {"house": 2}, 0.8)
    assert [passage["text"] for passage in item["passages"]] == [item["text"]]
    assert [statement["passage"] for statement in item["statements"]] == [item["passages"][0]["uid"]]
    assert [version["version"] for version in item["versions"]] == [2, 1]
    assert [version["retired_at"] is None for version in item["versions"]] == [True, False]
    ends = {(edge["type"], edge["other"]["name"]) for edge in item["edges"]}
    assert {("TAGGED", "sold"), ("INITIATED", "Ana"), ("STATED_BY", "u1")} <= ends
    old = http.get(f"/items/{item['versions'][1]['uid']}").raise_for_status().json()
    assert (old["text"], old["retired_at"] is None) == ("Note 5 about house 2.", False)


def test_an_id_with_a_slash_is_read_by_the_query(http: httpx.Client) -> None:
    item = listed(http, id="h/1#a")
    assert (item["id"], item["sensitivity"]) == ("h/1#a", "sensitive")
    assert [person["name"] for person in item["about"]] == ["Ana"]


def test_a_viewer_gets_no_trace_of_what_is_hidden(http: httpx.Client) -> None:
    uid = listed(http, id="h/1#a")["uid"]
    assert "h/1#a" not in ids(http, viewer="Ben", viewer_context=CONTEXT, limit=50)
    assert "h/1#a" in ids(http, viewer="Ana", viewer_context=CONTEXT, limit=50)
    full = listed(http, viewer="Ben", limit=12)
    assert (len(full["items"]), full["next"]) == (12, None)
    answers = [
        http.get(f"/items/{address}", params={"viewer": "Ben", "context": CONTEXT})
        for address in (uid, "00000000-0000-5000-8000-000000000000")
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    kinds = [{name: value for name, value in answer.json().items() if name in {"type", "title"}} for answer in answers]
    assert kinds[0] == kinds[1]
    assert http.get(f"/items/{uid}", params={"viewer": "Ana"}).status_code == 200


def test_wrong_questions_name_the_field_and_the_fix(http: httpx.Client) -> None:
    ((field, problem),) = refused(http, filter='{"contxt": "a"}')
    assert (field, problem.partition(".")[0]) == ("filter", "has no field 'contxt'")
    assert refused(http, filter='{"told": {"after": 1}}') == [("filter.told.after", "extra inputs are not permitted")]
    assert refused(http, filter="{")[0][0] == "filter"
    assert refused(http, filter='{"not": ' * 6 + "{}" + "}" * 6)[0][0] == "filter"
    assert refused(http, label="Evnt")[0][0] == "query.label"
    assert refused(http, id="n5")[0] == ("context", "is missing: an id is unique only inside a context")
    among = "chooses among items, and `id` names one"
    assert refused(http, context=CONTEXT, id="n5", speaker="Ana") == [("speaker", among)]
    assert refused(http, context=CONTEXT, id="n5", filter="{}", order="told", viewer="Ben") == [
        ("filter", among),
        ("order", among),
    ]
    assert refused(http, limit=1001)[0][0] == "limit"
    assert refused(http, ordre="told")[0][0] == "ordre"
    cursor = listed(http, limit=2)["next"]
    assert refused(http, context="Other", cursor=cursor)[0][1].startswith("belongs to another request")
    assert refused(http, context=CONTEXT, cursor=cursor, order="arrival")[0][0] == "cursor"
    assert refused(http, context=CONTEXT, cursor="nonsense")[0] == ("cursor", "is no cursor")


def test_contexts_are_counted_without_what_a_viewer_may_not_see(http: httpx.Client) -> None:
    def summary(**params: Any) -> dict[str, Any]:
        page = http.get("/contexts", params={"prefix": CONTEXT, **params}).raise_for_status().json()
        (context,) = page["contexts"]
        return {name: context[name] for name in ("items", "labels", "first", "last", "passages")}

    shown = {"items": 12, "labels": {"Event": 12}, "passages": 12}
    times = {"first": "2026-01-01T10:00:00Z", "last": "2026-01-12T10:00:00Z"}
    assert summary(viewer="Ben") == {**shown, **times}
    assert summary()["items"] == 13


def test_contexts_come_in_pages_whose_places_belong_to_the_question(http: httpx.Client) -> None:
    for number in range(3):
        body = {"context": f"paged {number}", "items": [{"text": f"The quay is {number} fathoms deep."}]}
        http.post("/ingest", json=body).raise_for_status()
    seen: list[str] = []
    page: dict[str, Any] = {"next": None}
    while not seen or page["next"] is not None:
        place = {"after": page["next"]} if seen else {}
        page = http.get("/contexts", params={"prefix": "paged", "limit": 1, **place}).raise_for_status().json()
        seen += [one["context"] for one in page["contexts"]]
        if len(seen) == 1:
            first = page["next"]
    assert seen == ["paged 0", "paged 1", "paged 2"]
    for other in ({}, {"prefix": "page"}, {"prefix": "paged", "viewer": "Ana"}):
        answer = http.get("/contexts", params={**other, "after": first})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "after")
        assert "belongs to another request" in answer.json()["errors"][0]["problem"]


def stats(http: httpx.Client, **params: Any) -> dict[str, Any]:
    counts: dict[str, Any] = http.get("/stats", params=params).raise_for_status().json()
    return counts


def test_stats_count_what_a_viewer_may_see(http: httpx.Client) -> None:
    """The hidden item is in no number of the viewer's, and the queue and the files, which are all's, are not told."""
    counted = ("items", "passages", "chars")
    before, before_shown = stats(http), stats(http, viewer="Ben")
    hidden = {"text": "Ana is well.", "about": ["Ana"], "sensitivity": "sensitive"}
    http.post("/ingest", json={"context": "Illness", "items": [hidden]}).raise_for_status()
    everything, shown = stats(http), stats(http, viewer="Ben")
    assert [everything[name] - before[name] for name in counted] == [1, 1, len(hidden["text"])]
    assert sum(day["items"] for day in everything["days"]) - sum(day["items"] for day in before["days"]) == 1
    assert shown == before_shown, "a hidden item is in no number"
    assert everything["contexts"] - shown["contexts"] >= 1
    assert sum(day["items"] for day in everything["days"]) == everything["items"]
    assert everything["vectors"] + everything["waiting"] == everything["passages"]
    assert (everything["queue"]["dead"], everything["disk_bytes"] > 100_000) == (0, True)
    assert (shown["queue"], shown["disk_bytes"]) == (None, None)
    refused = http.get("/stats", params={"days": 0})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "days")
