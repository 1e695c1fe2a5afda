"""Commands at the address of a server: its public API, with a key, for the key's tenant alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from support.clients.served import Served, keep_logs, serve_store
from vicw_shared.clock import now
from vicw_shared.model.keys import Right, mint
from vicw_standalone.cli import app
from vicw_stores.data_dir import DataDir

AMY = "The second safe opens with the birthday of the harbour master."
TURNS: list[dict[str, Any]] = [
    {"id": "a", "speaker": "Amy", "user": "amy-7", "text": AMY},
    {"id": "b", "speaker": "Bob", "user": "bob-2", "text": "The ferry to the island leaves at noon on Sundays."},
]


class Address:
    """A server that requires keys, and the commands that ask it."""

    def __init__(self, served: Served, url: str) -> None:
        self._served = served
        self.url = url

    def key(self, *rights: Right, tenant: str = "default") -> str:
        key, token = mint(tenant, rights, now())
        self._served.portal.call(self._served.standalone.keys.add, key)
        return token

    def store(self, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        body = {"context": "port", "items": TURNS}
        httpx.post(f"{self.url}/ingest", json=body, headers=headers, timeout=60).raise_for_status()

    def __call__(self, *words: str, key: str | None, url: str | None = None) -> Result:
        given = ["--url", url or self.url] if url != "" else []
        return CliRunner().invoke(app, [*words, *given], env={"VICW_API_KEY": key, "COLUMNS": "200"})


@pytest.fixture
def address(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    keep_logs(monkeypatch)
    monkeypatch.delenv("VICW_URL", raising=False)
    monkeypatch.setenv("VICW_DATA_DIR", str(tmp_path / "elsewhere"))  # a machine without the data
    with serve_store(store, host="0.0.0.0") as served:
        serving = DataDir.read_server(store)
        assert serving is not None
        yield Address(served, serving.url)


def test_a_user_is_erased_with_a_key_that_may(address: Address) -> None:
    ana = address.key(Right.INGEST, Right.RETRIEVE, Right.ERASE, tenant="ana")
    bob = address.key(Right.INGEST, Right.RETRIEVE, Right.ERASE, tenant="bob")
    for key in (ana, bob):
        address.store(key)
    dry = address("forget", "user", "amy-7", "--dry-run", key=ana)
    assert (dry.exit_code, dry.stdout) == (0, "1 item, 2 names of the person\n"), dry.output
    refused = CliRunner().invoke(
        app, ["forget", "user", "amy-7", "--url", address.url], input="n\n", env={"VICW_API_KEY": ana}
    )
    assert "nothing was erased" in refused.stderr
    listed = address("items", "list", "--json", key=ana)
    assert {one["id"] for one in json.loads(listed.stdout)} == {"a", "b"}, "asked, and not erased"
    done = address("forget", "user", "amy-7", "--yes", key=ana)
    assert done.exit_code == 0, done.output
    assert "proven: nothing is left" in done.stdout
    for key, left in ((ana, {"b"}), (bob, {"a", "b"})):
        listed = address("items", "list", "--json", key=key)
        assert {one["id"] for one in json.loads(listed.stdout)} == left
    proof = json.loads(address("forget", "context", "port", "--yes", "--json", key=ana).stdout)
    assert (proof["status"], proof["proof"]["proven"]) == ("done", True)
    whole = address("forget", "tenant", "--yes", key=bob)
    assert whole.exit_code == 0, whole.output
    assert json.loads(address("items", "list", "--json", key=bob).stdout) == []


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("forget", "tenant", "ana"), "NAME: leave it out: a key has one tenant"),
        (("forget", "user", "x", "--tenant", "bob"), "--tenant is for who owns the data"),
        (("forget", "item", "x", "--copies", "."), "--copies is for who owns the data"),
        (("keys", "create", "--tenant", "bob"), "--tenant is for who owns the data"),
        (("forget", "user", "x", "--platform"), "--url excludes --platform and --data-dir"),
        (("check",), "all is checked for who owns the data alone; add --last"),
    ],
    ids=str,
)
def test_what_a_key_cannot_say_is_refused(address: Address, words: tuple[str, ...], error: str) -> None:
    done = address(*words, key=address.key(*Right))
    assert (done.exit_code, done.stdout) == (2, "")
    assert error in done.stderr


def test_keys_are_made_listed_and_revoked_for_the_keys_own_tenant(address: Address) -> None:
    ana = address.key(Right.ADMIN, Right.RETRIEVE, tenant="ana")
    bob = address.key(Right.ADMIN, tenant="bob")
    made = address("keys", "create", "--right", "retrieve", "--note", "page", key=ana)
    assert made.exit_code == 0, made.output
    assert address("stats", key=made.stdout.strip()).exit_code == 0, "the key that was made is one"
    assert "cannot hand on" in address("keys", "create", "--right", "erase", key=ana).stderr
    rows = [json.loads(line) for line in address("keys", "list", "--json", key=ana).stdout.splitlines()]
    assert [(row["note"], set(row["rights"])) for row in rows] == [("", {"retrieve", "admin"}), ("page", {"retrieve"})]
    page = rows[1]["id"]
    assert page in address("keys", "list", key=ana).stdout
    assert address("keys", "revoke", page, key=bob).exit_code == 1, "of another tenant"
    assert json.loads(address("keys", "revoke", page, "--json", key=ana).stdout) == {"id": page}
    assert address("keys", "revoke", page, key=ana).stderr.startswith("error: There is no valid key")


def test_the_last_comparison_is_told(address: Address) -> None:
    key = address.key(Right.ADMIN, tenant="ana")
    shown = address("check", "--last", key=key)
    assert (shown.exit_code, "not indexed yet" in shown.stdout) == (0, True), shown.output
    assert json.loads(address("check", "--last", "--json", key=key).stdout)["passages_waiting"] == 0


def test_a_wrong_key_a_missing_right_and_a_server_that_is_away_are_said(address: Address) -> None:
    reader = address.key(Right.RETRIEVE)
    for words in (("forget", "user", "x"), ("keys", "list"), ("check", "--last")):
        for key in ("vicw_wrong", reader, None):
            done = address(*words, key=key)
            assert (done.exit_code, done.stdout) == (1, ""), words
            assert done.stderr.startswith("error: "), words
        away = address(*words, key=reader, url="http://127.0.0.1:1")
        assert (away.exit_code, "Is the server running?" in away.stderr) == (1, True)


def test_the_address_of_the_environment_is_asked_unless_a_place_is_named(
    address: Address, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VICW_URL", address.url)
    key = address.key(Right.ADMIN, tenant="ana")
    listed = CliRunner().invoke(app, ["keys", "list", "--json"], env={"VICW_API_KEY": key})
    assert len(listed.stdout.splitlines()) == 1, "of the key's tenant"
    address.key(Right.ADMIN, tenant="bob")
    owned = CliRunner().invoke(app, ["keys", "list", "--json", "--data-dir", str(store)], env={"VICW_API_KEY": key})
    assert len(owned.stdout.splitlines()) == 2, "the owner sees all tenants"
    monkeypatch.setenv("VICW_DATA_DIR", str(store))
    here = CliRunner().invoke(app, ["keys", "list", "--json"], env={"VICW_API_KEY": key})
    assert len(here.stdout.splitlines()) == 2, "it is the server that has the owner's directory open"
