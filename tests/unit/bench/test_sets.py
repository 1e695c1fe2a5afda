from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.generators.retrieval_set import CODE, TALES, write_lines, write_set
from vicw_bench.filling import BATCH, requests
from vicw_bench.sets import BenchDataError, find_sets, load_set, pool

ITEM = {"id": "1", "context": "c", "text": "a"}
QUERY = {"id": "q", "context": "c", "query": "a?", "relevant": ["1"]}
AMBIGUOUS = Path(__file__).parents[2] / "bench" / "data"


@pytest.mark.parametrize("packed", [False, True])
def test_load_set_reads_plain_and_packed_sets(tmp_path: Path, packed: bool) -> None:
    data = load_set(write_set(tmp_path / "code", CODE, domain="code", packed=packed))
    assert data.name == "code"
    assert [entry.item.text for entry in data.items] == list(CODE)
    assert {(entry.context, entry.domain) for entry in data.items} == {("shared", "code")}
    assert data.questions[1].relevant == {"1"}


def test_packing_does_not_change_the_digest(tmp_path: Path) -> None:
    plain = load_set(write_set(tmp_path / "a", CODE, domain="code"))
    packed = load_set(write_set(tmp_path / "b", CODE, domain="code", packed=True))
    other = load_set(write_set(tmp_path / "c", TALES, domain="code"))
    assert plain.digest == packed.digest != other.digest


@pytest.mark.parametrize(
    ("item", "query", "complaint"),
    [
        ({"text": 5}, {}, "items.jsonl:1: text"),
        ({"colour": "red"}, {}, "items.jsonl:1: colour"),
        ({"context": None}, {}, "items.jsonl:1: an item needs an id and a context"),
        ({}, {"relevant": []}, "queries.jsonl:1: relevant"),
        ({}, {"relevant": ["2"]}, "question q rests on '2', which is no item"),
        ({}, {"context": "elsewhere"}, "question q rests on '1', which is no item"),
        ({}, {"query_time": "2026-01-19"}, "queries.jsonl:1: query_time"),
    ],
)
def test_a_faulty_set_raises_an_error_naming_the_line(
    tmp_path: Path, item: dict[str, Any], query: dict[str, Any], complaint: str
) -> None:
    write_lines(tmp_path / "items.jsonl", [ITEM | item])
    write_lines(tmp_path / "queries.jsonl", [QUERY | query])
    with pytest.raises(BenchDataError) as caught:
        load_set(tmp_path)
    assert complaint in caught.value.detail


def test_a_repeated_item_id_in_a_context_is_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "items.jsonl", [ITEM, ITEM | {"context": "d"}, ITEM])
    write_lines(tmp_path / "queries.jsonl", [QUERY])
    with pytest.raises(BenchDataError, match="twice"):
        load_set(tmp_path)


def test_a_broken_gzip_file_is_named_in_the_error(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl.gz").write_bytes(b"\x1f\x8b\x08not gzip")
    write_lines(tmp_path / "queries.jsonl", [QUERY])
    with pytest.raises(BenchDataError, match=r"items\.jsonl\.gz cannot be read"):
        load_set(tmp_path)


def test_find_sets_returns_the_sets_of_a_folder(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_set(tmp_path / name, CODE, domain="code", packed=name == "a")
    write_lines(tmp_path / "sentences" / "sentences.jsonl", [])
    assert [path.name for path in find_sets(tmp_path)] == ["a", "b"]
    assert [path.name for path in find_sets(tmp_path, ["b"])] == ["b"]
    assert find_sets(tmp_path / "a") == [tmp_path / "a"], "a set's own folder will do"
    with pytest.raises(BenchDataError, match="no set c; there are a, b"):
        find_sets(tmp_path, ["c"])
    with pytest.raises(BenchDataError, match="holds no set"):
        find_sets(tmp_path / "sentences")


def test_pooled_sets_keep_their_contexts_apart(tmp_path: Path) -> None:
    code = load_set(write_set(tmp_path / "code", CODE, domain="code"))
    tales = load_set(write_set(tmp_path / "tales", TALES, domain="prose"))
    pooled = pool([code, tales])
    assert pooled.name == "pool-code-tales"
    assert {entry.context for entry in pooled.items} == {"code/shared", "tales/shared"}
    assert {question.context for question in pooled.questions} == {"code/shared", "tales/shared"}
    assert len({question.id for question in pooled.questions}) == len(CODE) + len(TALES)
    assert {entry.context for entry in pool([code]).items} == {"shared"}


def test_a_request_holds_one_context_and_domain_in_file_order(tmp_path: Path) -> None:
    code = load_set(write_set(tmp_path / "code", (f"text {n}" for n in range(BATCH + 1)), domain="code"))
    tales = load_set(write_set(tmp_path / "tales", TALES, domain="prose"))
    made = list(requests(pool([code, tales]).items))
    assert [(request.context, request.domain, len(request.items)) for request in made] == [
        ("code/shared", "code", BATCH),
        ("code/shared", "code", 1),
        ("tales/shared", "prose", len(TALES)),
    ]
    assert [item.text for item in made[0].items] == [f"text {n}" for n in range(BATCH)]


def test_every_set_of_the_repository_can_be_read() -> None:
    assert [load_set(path).name for path in find_sets(AMBIGUOUS)] == ["ambiguous", "diaries"]


def test_the_ambiguous_set_has_both_domains_of_each_word() -> None:
    data = load_set(AMBIGUOUS / "ambiguous")
    domains = {str(entry.item.id): entry.domain for entry in data.items}
    texts = {str(entry.item.id): f"{entry.item.name} {entry.item.text}".lower() for entry in data.items}
    worlds: dict[str, set[str | None]] = {}
    for question in data.questions:
        (evidence,) = question.relevant
        word = question.id.split("-")[0]
        assert question.domain == domains[evidence]
        assert question.category in {"plain", "veiled"}
        assert word in texts[evidence]
        worlds.setdefault(word, set()).add(question.domain)
    assert len(worlds) >= 60
    assert all(found == {"coding", "prose"} for found in worlds.values())
