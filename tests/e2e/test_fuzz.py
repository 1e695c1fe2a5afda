"""Bodies that no one would write: whatever comes, the answer is right or a problem, never a fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from support.api.problems import post, problem_of
from support.processes.server import Server, count_nodes
from vicw_shared.wire.answer_format import Budget, Template
from vicw_shared.wire.extraction import EntityInput, EventInput, Extraction, Relation
from vicw_shared.wire.ingest import IngestRequest, Item
from vicw_shared.wire.knowledge import PageRef
from vicw_shared.wire.retrieve import Expand, RetrieveRequest, TagFilter
from vicw_shared.wire.viewer import Viewer

pytestmark = pytest.mark.process

_TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["", " ", "\x00", "\ud800", "\u200b", "$item", "CAUSED", "RELATED_TO", "public", "coding", "auto"]),
    st.sampled_from(["2026-01-19T10:00:00Z", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00Z", "1e400", "NaN"]),
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(2**80), 2**80), st.floats(allow_nan=False), _TEXTS
)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=12
)


def _object(
    model: type[BaseModel], without: Collection[str] = (), always: Collection[str] = (), **known: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with fields of a model, each most often of its own kind and sometimes anything."""
    fields = {name: info for name, info in model.model_fields.items() if name not in without}
    for name in fields.keys() - known.keys():  # a field that words do not fit would make nearly all wrong
        model.__pydantic_validator__.validate_assignment(model.model_construct(), name, "word")

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        wanted = [n for n, info in fields.items() if n in always or info.is_required() or not draw(st.integers(0, 2))]
        body = {name: draw(known.get(name, _WORDS) if draw(st.integers(0, 99)) else _JSON) for name in wanted}
        if not draw(st.integers(0, 59)):
            body["surprise"] = draw(_JSON)
        if body and not draw(st.integers(0, 99)):
            body.pop(next(iter(body)))
        return body

    return build()


_WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)
_TIMES = st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat)
_SHARES = st.sampled_from([0, 0.5, 1, -0.0])
_NAMES = st.lists(_WORDS, max_size=3)
_THING = _object(EntityInput)
_EXTRACTION = _object(
    Extraction,
    entities=st.lists(_THING, max_size=2),
    concepts=st.lists(_THING, max_size=2),
    events=st.lists(_object(EventInput, timestamp=_TIMES), max_size=2),
    relations=st.lists(
        _object(
            Relation,
            source=st.just("$item"),
            type=st.sampled_from(["RELATED_TO", "MENTIONS", "CAUSED", "NONE"]),
            certainty=_SHARES,
            weight=_SHARES,
        ),
        max_size=1,
    ),
)
_PAGE = _object(
    Item,
    without=set(Item.model_fields) - {"id", "text", "page"},
    always=["text"],
    page=_object(PageRef, path=_WORDS.map("{}.md".format)),
)
_ITEM = _object(
    Item,
    without={"page"},
    always=["text"],  # the model can do without it only where an item is merged
    flow_step=st.integers(-5, 5),
    tags=_NAMES,
    about=_NAMES,
    timestamp=_TIMES,
    expires_at=_TIMES,
    metadata=st.dictionaries(_WORDS, st.lists(_WORDS | st.integers()), max_size=3),
    sensitivity=st.sampled_from(["public", "personal", "sensitive"]),
    portable=st.booleans(),
    merge=st.sampled_from([False, False, False, True]),
    protected=st.booleans(),
    importance=_SHARES | st.sampled_from(["critical", "normal", "none"]),
    trigger_phrases=_NAMES,
    extraction=_EXTRACTION,
)
_INGEST = _object(
    IngestRequest,
    items=st.one_of([st.lists(one, min_size=1, max_size=3) for one in (_ITEM, _ITEM, _PAGE)]),
    wait=st.just(False),
    extract=st.sampled_from(["auto", "caller"]),
)
_ZONES = st.sampled_from(["Asia/Kolkata", "America/Sao_Paulo", "UTC"])
_FILTER = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "context": _WORDS | st.fixed_dictionaries({"prefix": _WORDS}),
            "tags": _WORDS | st.fixed_dictionaries({"none": st.lists(_WORDS, min_size=1, max_size=3)}),
            "metadata.k": _WORDS | st.integers() | st.fixed_dictionaries({"gte": st.integers()}),
            "importance": st.fixed_dictionaries({"lt": _SHARES}),
            "told": st.fixed_dictionaries({"gte": _TIMES}),
        },
    ),
    lambda inner: st.fixed_dictionaries({"not": inner}) | st.fixed_dictionaries({"any": st.lists(inner, min_size=1)}),
    max_leaves=3,
)
_RETRIEVE = _object(
    RetrieveRequest,
    limit=st.integers(1, 20),
    min_relevance=_SHARES,
    viewer=_object(Viewer, participants=_NAMES, chat=st.sampled_from(["private", "group"]), timezone=_ZONES),
    timezone=_ZONES,
    tags=_object(TagFilter, any=_NAMES, all=_NAMES, none=_NAMES),
    filter=_FILTER,
    label=st.sampled_from(["Event", "Entity"]),
    metadata=st.dictionaries(_WORDS, _WORDS | st.fixed_dictionaries({"gte": st.integers()}), max_size=2),
    since=_TIMES,
    until=_TIMES,
    cursor=st.sampled_from([*[None] * 19, "WzFd"]),
    channels=st.lists(st.sampled_from(["dense", "bm25"]), min_size=1),
    expand=_object(Expand, hops=st.integers(0, 1)),
    budget=_object(Budget, chars=st.integers(1, 500), tokens=st.integers(1, 500)),
    template=_object(Template, whole=st.sampled_from(["{results}", "<{results}>", "none"]), result=_WORDS),
    explain=st.booleans(),
    as_of=_TIMES,
    known_at=_TIMES,
    query_time=_TIMES,
)
_FUZZ = settings(
    max_examples=150,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


def _fuzz(server: Server, http: httpx.Client, path: str, bodies: st.SearchStrategy[Any]) -> None:
    seen: Counter[int] = Counter()

    @_FUZZ
    @given(body=bodies)
    def one(body: Any) -> None:
        before = count_nodes(server)
        answer = post(http, path, body)
        seen[answer.status_code] += 1
        if not answer.is_success:
            problem_of(answer, answer.status_code, answer.json()["type"].rpartition(":")[2])
            assert answer.status_code in {409, 422}, answer.text
            assert count_nodes(server) == before

    one()
    assert min(seen.total() - seen[422], seen[422]) > seen.total() // 20, f"one side is hardly reached: {seen}"


def test_fuzzed_ingest_requests_are_stored_or_refused(server: Server, http: httpx.Client) -> None:
    _fuzz(server, http, "/ingest", st.one_of(_INGEST, _INGEST, _INGEST, _JSON))


def test_fuzzed_retrieve_requests_are_answered_or_refused(server: Server, http: httpx.Client) -> None:
    _fuzz(server, http, "/retrieve", st.one_of(_RETRIEVE, _RETRIEVE, _RETRIEVE, _JSON))
