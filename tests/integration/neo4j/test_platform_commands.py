"""Commands with ``--platform`` that need the graph alone do and say what they do over a data directory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from support.clients.served import keep_logs
from support.clients.sleep_command import without_model
from support.servers.neo4j.server import Neo4jServer
from support.stores.memory import open_memory
from support.stores.neo4j import empty_neo4j
from vicw_standalone.cli import app

COMMANDS = (
    "jobs list",
    "jobs list --json --llm",
    "jobs show none",
    "jobs replay 00000000-0000-4000-8000-000000000000",
    "sleep log --json",
    "sleep status --tenant nobody",
    "keys revoke none",
)


@pytest.fixture(autouse=True)
def environment(neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch) -> None:
    empty_neo4j(neo4j_server)  # a tenant of another test would be named
    without_model(monkeypatch)
    keep_logs(monkeypatch)
    for name, value in {
        "VICW_NEO4J_URL": neo4j_server.url,
        "VICW_NEO4J_USER": neo4j_server.user,
        "VICW_NEO4J_PASSWORD": neo4j_server.password,
        "VICW_EMBEDDING_URL": "http://127.0.0.1:9/v1",
    }.items():
        monkeypatch.setenv(name, value)


def vicw(*words: str) -> Result:
    return CliRunner().invoke(app, words)


async def make(store: Path) -> None:
    async with open_memory(store):
        pass


def test_commands_say_the_same_of_the_platform_and_of_a_data_directory(store: Path) -> None:
    asyncio.run(make(store))
    for words in COMMANDS:
        here = vicw(*words.split(), "--data-dir", str(store))
        there = vicw(*words.split(), "--platform")
        assert (there.exit_code, there.stdout, str(there.exception)) == (
            here.exit_code,
            here.stdout,
            str(here.exception),
        ), words


def test_a_key_of_the_platform_is_created_listed_and_revoked() -> None:
    made = vicw("keys", "create", "--tenant", "ana", "--right", "retrieve", "--platform")
    assert made.exit_code == 0, made.output
    key_id = made.stdout.split("_")[1]
    assert key_id in vicw("keys", "list", "--platform").stdout
    assert vicw("keys", "revoke", key_id, "--platform").stdout == f"Key {key_id} is revoked\n"
    assert vicw("keys", "revoke", key_id, "--platform").exit_code == 1


def test_the_status_of_the_platform_names_every_job() -> None:
    told = vicw("sleep", "status", "--platform").stdout
    assert all(job in told for job in ("consolidation:", "dream:", "resolve:", "eviction:", "reconcile:")), told
