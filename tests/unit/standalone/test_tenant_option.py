"""What ``--tenant`` may say, and what is said to who names the wrong one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.stores.memory import open_memory
from vicw_shared.clock import now
from vicw_shared.errors import InvalidInputError
from vicw_shared.model.keys import Right, mint
from vicw_standalone.cli import app

COMMANDS = [["keys", "create"], ["jobs", "list"], ["jobs", "show", "some-job"], ["jobs", "replay"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ana\nbob", "contains a control character (U+000A)"),
        ("\x1b[2Jana", "contains a control character (U+001B)"),
        ("ana\x9b", "contains a control character (U+009B)"),
        (" ", "is empty"),
    ],
    ids=["line", "escape", "c1", "blank"],
)
def test_blank_or_control_characters_in_the_tenant_option_are_refused(command: list[str], name: str, said: str) -> None:
    refused = CliRunner().invoke(app, [*command, "--tenant", name])
    told = " ".join(refused.stderr.replace("│", " ").split())
    assert (refused.exit_code, "Invalid value for '--tenant'" in told, said in told) == (2, True, True), told


def test_mint_refuses_a_tenant_name_with_control_characters() -> None:
    with pytest.raises(InvalidInputError, match=r"tenant: contains a control character \(U\+0007\)"):
        mint("ana\x07", (Right.INGEST,), now())
    assert mint("Ana & Bob, köln", (Right.INGEST,), now())[0].tenant == "Ana & Bob, köln"


def test_a_job_of_another_tenant_is_refused_naming_the_option(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fill() -> str | None:
        async with open_memory(store) as memory:
            memory.tenant = "ana"
            return (await memory.ingest({"id": "a", "text": "an apple"}, wait=False)).job

    # Loggers keep what they were given first: here a stream that ends with the command.
    monkeypatch.setattr("vicw_runtime.logs.configure_logs", lambda settings: None)
    show = ["jobs", "show", asyncio.run(fill()) or "", "--data-dir", str(store)]
    assert '"items": 1' in CliRunner().invoke(app, [*show, "--tenant", "ana"]).stdout
    refused = CliRunner().invoke(app, show)
    assert refused.exit_code == 1
    assert "of tenant 'default'. `--tenant NAME` looks in another tenant" in refused.stderr
