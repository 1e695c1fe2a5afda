"""What ``--help`` says of every subcommand's options."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import typer.main
from typer.core import TyperGroup, TyperOption
from typer.testing import CliRunner

from vicw_standalone.cli import app


def _commands(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*path, name))
        else:
            said = [option.help or "" for option in command.params if isinstance(option, TyperOption)]
            yield (*path, name), said


_ROOT = typer.main.get_command(app)
assert isinstance(_ROOT, TyperGroup)


@pytest.mark.parametrize(("path", "said"), list(_commands(_ROOT)), ids=lambda value: " ".join(value)[:20])
def test_defaults_are_shown(path: tuple[str, ...], said: list[str]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=300, env={"COLUMNS": "300"}).output
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown).split())
    for text in said:
        for bracket in re.findall(r"\[.*?\]", text.replace("\\[", "[")):
            assert bracket in words
