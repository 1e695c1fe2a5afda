"""``--help`` shows the default of every option that has one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup, TyperOption
from typer.testing import CliRunner

from vicw_standalone.cli import app


def _defaults(option: TyperOption) -> list[str]:
    """Return what the help has to show: the brackets of the option's text, and its value."""
    texts: list[str] = re.findall(r"\[.*?\]", (option.help or "").replace("\\[", "["))
    value = option.default.value if isinstance(option.default, Enum) else option.default
    if (
        option.show_default
        and not option.hidden
        and not option.is_flag
        and isinstance(value, str | int | float)
        and value != ""
    ):
        texts.append(f"[default: {value}]")
    return texts


def _commands(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    for name in tuple(group.commands):
        command = group.resolve_command(_CONTEXT, [name])[1]
        if isinstance(command, TyperGroup):
            yield from _commands(command, (*path, name))
        else:
            assert command is not None
            options = [option for option in command.params if isinstance(option, TyperOption)]
            yield (*path, name), [text for option in options for text in _defaults(option)]


_ROOT = typer.main.get_group(app)
_CONTEXT = typer.Context(_ROOT)
_SUMMARIES = {name: command.help for name, command in _ROOT.commands.items()}
_COMMANDS = dict(_commands(_ROOT))


def test_most_commands_have_defaults_to_show() -> None:
    without = {path for path, defaults in _COMMANDS.items() if not defaults}
    assert len(_COMMANDS) - len(without) > 40, without
    assert "[default: 5]" in _COMMANDS["retrieve",]
    assert "[default: 8080, or VICW_PORT]" in _COMMANDS["serve",]


def test_the_list_of_commands_says_what_each_command_says_of_itself() -> None:
    own = {name: _first_line(command) for name, command in _ROOT.commands.items() if name in _SUMMARIES}
    assert own == _SUMMARIES


def _first_line(command: Any) -> str:
    return str(command.help).splitlines()[0]


@pytest.mark.parametrize("path", [path for path, defaults in _COMMANDS.items() if defaults], ids=" ".join)
def test_help_shows_the_defaults_of_options(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=300, env={"COLUMNS": "300"}).output
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", shown).split())
    for default in _COMMANDS[path]:
        assert default in words
