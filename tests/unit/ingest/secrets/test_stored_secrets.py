"""What the stores keep of a secret: its kind."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from support.generators.secrets import AWS_KEY, PASSWORD, pem
from support.stores.memory import Memory
from vicw_ingest.pipeline import ingest
from vicw_ingest.response.job_status import job_status
from vicw_shared.errors import InvalidInputError, StateConflictError
from vicw_shared.wire.ingest import IngestRequest

_ITEM = {"id": "a", "speaker": "Ana", "text": f"The router's password is {PASSWORD}, and the key {AWS_KEY}."}
_STORED = "The router's password is [secret: password], and the key [secret: aws-access-key]."


def request(*items: dict[str, str]) -> IngestRequest:
    return IngestRequest.model_validate({"context": "ctx", "items": items})


def files_containing(folder: Path, *words: bytes) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(word in path.read_bytes() for word in words)]


async def test_only_the_kind_of_a_secret_is_stored_embedded_and_shown(memory: Memory, store: Path) -> None:
    metadata = {"login": {"password": PASSWORD}}
    response = await memory.ingest({**_ITEM, "metadata": metadata, "name": pem("PRIVATE KEY", lines=4)}, key="k")
    assert {(secret.field, secret.kind) for secret in response.items[0].masked} == {
        ("items[0].text", "aws-access-key"),
        ("items[0].text", "password"),
        ("items[0].name", "private-key"),
        ("items[0].metadata.login.password", "password"),
    }
    (result,) = (await memory.retrieve("router password")).results
    assert (result.text, result.name) == (_STORED, "[secret: private-key]")
    assert files_containing(store, b"router")
    assert not files_containing(store, PASSWORD.encode(), AWS_KEY.encode())


async def test_an_item_differing_only_in_its_secret_is_unchanged_but_masked(memory: Memory) -> None:
    await memory.ingest(_ITEM)
    again = await memory.ingest({**_ITEM, "text": _ITEM["text"].replace(PASSWORD, "x9$Kq2LmZ")})
    assert again.items[0].status == "unchanged"
    assert {secret.kind for secret in again.items[0].masked} == {"aws-access-key", "password"}


async def test_an_idempotent_retry_of_a_masked_request_gets_the_same_response(memory: Memory) -> None:
    first = await memory.ingest({"text": f"password: {PASSWORD}"}, key="k")
    assert await memory.ingest({"text": f"password: {PASSWORD}"}, key="k") == first
    assert first.items[0].masked
    with pytest.raises(StateConflictError):
        await memory.ingest({"text": f"password: {PASSWORD} it is"}, key="k")


async def test_masking_is_reported_without_waiting_and_by_the_job(memory: Memory) -> None:
    response = await memory.ingest({"text": "plain"}, _ITEM, wait=False)
    assert [len(item.masked) for item in response.items] == [0, 2]
    assert response.job is not None
    graph = memory.standalone.graph
    for _ in range(500):
        status = await job_status(response.job, "default", graph, graph.record, graph.outbox, graph.pending_extractions)
        if status.result is not None:
            break
        await asyncio.sleep(0.02)
    assert status.result is not None
    assert status.result.items == response.items


async def test_a_refused_secret_stores_nothing_of_the_request(memory: Memory) -> None:
    ports = memory.standalone.ingest_ports()
    ports = replace(ports, settings=ports.settings.model_copy(update={"secrets": "refuse"}))
    with pytest.raises(InvalidInputError, match=r"items\[1\]\.text: contains a secret \(password\)"):
        await ingest(request({"text": "plain"}, _ITEM), "default", ports)
    assert await memory.found("plain") == []


async def test_secret_masking_switched_off_stores_the_text_as_it_is(memory: Memory) -> None:
    ports = memory.standalone.ingest_ports()
    ports = replace(ports, settings=ports.settings.model_copy(update={"secrets": "off"}))
    response, _ = await ingest(request(_ITEM), "default", ports)
    assert response.items[0].masked == ()
    assert (await memory.retrieve("router password")).results[0].text == _ITEM["text"]
