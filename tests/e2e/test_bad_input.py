"""Wrong fields: a problem document that names the field and the fix, and nothing of the request is stored."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from support.api.problems import refused, stores_nothing
from support.processes.server import Server

pytestmark = pytest.mark.process

_GOOD: dict[str, Any] = {"id": "good", "text": "An item without a flaw."}
_HUGE_YEAR = "9999-12-31T23:30:00-01:00"
_TINY_YEAR = "0001-01-01T00:30:00+01:00"

ITEMS: list[tuple[str, dict[str, Any], str]] = [
    ("unknown field", {"txt": "typo"}, "items[1].txt"),
    ("unknown field of an extraction", {"extraction": {"edges": []}}, "items[1].extraction.edges"),
    ("number for text", {"text": 5}, "items[1].text"),
    ("null text", {"text": None}, "items[1].text"),
    ("empty text", {"text": ""}, "items[1].text"),
    ("white space only", {"text": " \t\r\n\u00a0\u2003"}, "items[1].text"),
    ("zero width only", {"text": "\u200b\u200c\u200d\ufeff\u2060"}, "items[1].text"),
    ("control characters only", {"text": "\x01\x1f\x7f"}, "items[1].text"),
    ("NUL in text", {"text": "a\x00b"}, "items[1].text"),
    ("NUL in id", {"id": "a\x00b"}, "items[1].id"),
    ("NUL in a tag", {"tags": ["fine", "a\x00"]}, "items[1].tags[1]"),
    ("NUL in metadata", {"metadata": {"a": ["\x00"]}}, "items[1].metadata"),
    ("NUL in a metadata key", {"metadata": {"a\x00": 1}}, "items[1].metadata"),
    ("lone surrogate in text", {"text": "a\ud800b"}, "items[1].text"),
    ("lone surrogate in id", {"id": "\udfff"}, "items[1].id"),
    ("lone surrogate in a tag", {"tags": ["\ud800"]}, "items[1].tags[0]"),
    ("lone surrogate in metadata", {"metadata": {"deep": {"er": "\ud800"}}}, "items[1].metadata"),
    ("lone surrogate in a speaker", {"speaker": "\ud800"}, "items[1].speaker"),
    ("empty id", {"id": ""}, "items[1].id"),
    ("invisible tag", {"tags": ["\u200b"]}, "items[1].tags[0]"),
    ("number for id", {"id": 7}, "items[1].id"),
    ("a tag for a list of tags", {"tags": "amulet"}, "items[1].tags"),
    ("list for metadata", {"metadata": []}, "items[1].metadata"),
    ("text for a step", {"flow_step": "1"}, "items[1].flow_step"),
    ("bool for a step", {"flow_step": True}, "items[1].flow_step"),
    ("float for a step", {"flow_step": 1.5}, "items[1].flow_step"),
    ("a step beyond 2^53", {"flow_step": 2**53 + 1}, "items[1].flow_step"),
    ("number for a bool", {"portable": 1}, "items[1].portable"),
    ("text for a bool", {"protected": "yes"}, "items[1].protected"),
    ("bool for a share", {"importance": True}, "items[1].importance"),
    ("text for a share", {"importance": "0.5"}, "items[1].importance"),
    ("share above one", {"importance": 1.01}, "items[1].importance"),
    ("int for a timestamp", {"timestamp": 1_700_000_000}, "items[1].timestamp"),
    ("digits for a timestamp", {"timestamp": "1700000000"}, "items[1].timestamp"),
    ("float for a timestamp", {"timestamp": 1.5}, "items[1].timestamp"),
    ("bool for a timestamp", {"timestamp": True}, "items[1].timestamp"),
    ("no zone", {"timestamp": "2026-01-19T10:00:00"}, "items[1].timestamp"),
    ("a date only", {"timestamp": "2026-01-19"}, "items[1].timestamp"),
    ("year 0", {"timestamp": "0000-01-01T00:00:00Z"}, "items[1].timestamp"),
    ("year 10000", {"timestamp": "10000-01-01T00:00:00Z"}, "items[1].timestamp"),
    ("after 9999 in UTC", {"timestamp": _HUGE_YEAR}, "items[1].timestamp"),
    ("before 0001 in UTC", {"timestamp": _TINY_YEAR}, "items[1].timestamp"),
    ("expiry after 9999 in UTC", {"expires_at": _HUGE_YEAR}, "items[1].expires_at"),
    ("month 13", {"timestamp": "2026-13-01T00:00:00Z"}, "items[1].timestamp"),
    ("unknown sensitivity", {"sensitivity": "secret-ish"}, "items[1].sensitivity"),
    ("a name too long", {"name": "x" * 513}, "items[1].name"),
    ("an id too long", {"id": "x" * 513}, "items[1].id"),
    ("too many tags", {"tags": [f"t{n}" for n in range(65)]}, "items[1].tags"),
    ("metadata too large", {"metadata": {"a": "x" * 17_000}}, "items[1].metadata"),
    ("duplicate id", {"id": "good"}, "items[1].id"),
]


def relation(**fields: Any) -> dict[str, Any]:
    return {"extraction": {"entities": [{"name": "Mara"}, {"name": "Amulet"}], "relations": [fields]}}


RELATIONS: list[tuple[str, dict[str, Any], str, str]] = [
    ("unregistered type", relation(source="Mara", type="LOVES", target="Amulet"), "type", "unknown-type"),
    ("Cypher for a type", relation(source="Mara", type="X]->() DELETE n //", target="Amulet"), "type", "unknown-type"),
    ("forbidden pair", relation(source="Mara", type="CAUSED", target="Amulet"), "type", "forbidden-edge"),
    ("kept by us", relation(source="Mara", type="NEXT", target="Amulet"), "type", "invalid-input"),
    ("source names nothing", relation(source="Nobody", type="RELATED_TO", target="Amulet"), "source", "invalid-input"),
    ("target names nothing", relation(source="Mara", type="RELATED_TO", target="gone"), "target", "invalid-input"),
    ("a thing with itself", relation(source="Mara", type="RELATED_TO", target="Mara"), "", "invalid-input"),
    (
        "weight over one",
        relation(source="Mara", type="RELATED_TO", target="Amulet", weight=2),
        "weight",
        "invalid-input",
    ),
]


@pytest.mark.parametrize(("flaw", "field"), [case[1:] for case in ITEMS], ids=[case[0] for case in ITEMS])
def test_an_invalid_item_refuses_the_whole_request_and_names_the_field(
    server: Server, http: httpx.Client, flaw: dict[str, Any], field: str
) -> None:
    bad = {"id": "bad", "text": "An item with a flaw.", **flaw}
    with stores_nothing(server):
        problem = refused(http, "/ingest", {"context": "bad input", "items": [_GOOD, bad]})
    assert [error["field"] for error in problem["errors"]] == [field]


@pytest.mark.parametrize(
    ("flaw", "field", "slug"), [case[1:] for case in RELATIONS], ids=[case[0] for case in RELATIONS]
)
def test_an_invalid_relation_refuses_the_whole_request_and_names_the_field(
    server: Server, http: httpx.Client, flaw: dict[str, Any], field: str, slug: str
) -> None:
    bad = {"id": "bad", "text": "Mara finds the amulet.", **flaw}
    with stores_nothing(server):
        problem = refused(http, "/ingest", {"context": "bad input", "items": [_GOOD, bad]}, slug=slug)
    path = "items[1].extraction.relations[0]"
    assert [error["field"] for error in problem["errors"]] == [f"{path}.{field}" if field else path]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "items"),
        ({"items": []}, "items"),
        ({"items": {}}, "items"),
        ({"items": [_GOOD], "context": ""}, "context"),
        ({"items": [_GOOD], "context": "a\x00"}, "context"),
        ({"items": [_GOOD], "context": "x" * 513}, "context"),
        ({"items": [_GOOD], "wait": "false"}, "wait"),
        ({"items": [_GOOD], "wait": 0}, "wait"),
        ({"items": [_GOOD], "extract": "magic"}, "extract"),
        ({"items": [_GOOD], "extract": "llm"}, "extract"),
        ({"items": [_GOOD], "tenant": "another"}, "tenant"),
        ({"items": [_GOOD], "domain": " "}, "domain"),
        ({"items": [_GOOD], "\ud800": 1}, "body"),
        ({"items": [{"id": "no-text"}]}, "items[0].text"),
    ],
)
def test_an_invalid_ingest_request_is_refused_by_field(
    server: Server, http: httpx.Client, fields: dict[str, Any], field: str
) -> None:
    with stores_nothing(server):
        problem = refused(http, "/ingest", {"context": "bad input", **fields})
    assert [error["field"] for error in problem["errors"]] == [field]


def test_all_invalid_fields_are_named_in_one_answer(server: Server, http: httpx.Client) -> None:
    with stores_nothing(server):
        problem = refused(http, "/ingest", {"items": [{"id": 1}, {"text": "a", "tags": 1}], "extra": 1})
    fields = {error["field"] for error in problem["errors"]}
    assert fields == {"context", "items[0].text", "items[0].id", "items[1].tags", "extra"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "\u200b \n"}, "query"),
        ({"query": "a\x00"}, "query"),
        ({"query": "a\ud800"}, "query"),
        ({"query": 5}, "query"),
        ({"query": "x" * 100_000}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": 10_000}, "limit"),
        ({"limit": "10"}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 1.0}, "limit"),
        ({"budget": {"chars": 0}}, "budget.chars"),
        ({"budget": {"chars": 10**9}}, "budget.chars"),
        ({"budget": 100}, "budget"),
        ({"channels": []}, "channels"),
        ({"channels": ["psychic"]}, "channels[0]"),
        ({"expand": {"hops": 9}}, "expand.hops"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"known_at": "2026-01-19T10:00:00"}, "known_at"),
        ({"query_time": _HUGE_YEAR}, "query_time"),
        ({"viewer": {"user": ""}}, "viewer.user"),
        ({"viewer": {"chat": "secret"}}, "viewer.chat"),
        ({"tags": {"any": ["\x00"]}}, "tags.any[0]"),
        ({"tenant": "another"}, "tenant"),
        ({"context": "\ud800"}, "context"),
    ],
)
def test_an_invalid_retrieve_request_is_refused_by_field(
    http: httpx.Client, fields: dict[str, Any], field: str
) -> None:
    problem = refused(http, "/retrieve", {"query": "what is it?", **fields})
    assert [error["field"] for error in problem["errors"]] == [field]


def test_a_retrieve_request_without_a_query_is_refused(http: httpx.Client) -> None:
    assert [error["field"] for error in refused(http, "/retrieve", {})["errors"]] == ["query"]
