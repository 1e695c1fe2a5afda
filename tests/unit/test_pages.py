"""README and docs: the README is short, links lead somewhere, and commands that pages show exist."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from vicw_standalone.cli import app

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = sorted(
    page.relative_to(_ROOT).as_posix()
    for page in (*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md"))
    if page.name != "template.md"
)
_CODE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_COMMAND = re.compile(r"(?:^|[\s`;|(/])vicw ((?:[a-z][a-z-]* ?)+)", re.MULTILINE)
_TARGET = re.compile(r"(?:^|`)make ([a-z-]+)", re.MULTILINE)


def test_the_readme_has_at_most_a_thousand_words() -> None:
    assert len(_read("README.md").split()) <= 1000, "code and tables count"


@pytest.mark.parametrize("page", _PAGES)
def test_links_lead_to_a_file_and_a_heading(page: str) -> None:
    broken = []
    for link in _LINK.findall(re.sub(r"`[^`\n]+`", "", _CODE.sub("", _read(page)))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (_ROOT / page).parent / path if path else _ROOT / page
        if not target.exists() or (anchor and anchor not in _anchors(target.resolve())):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(p for p in _PAGES if p.count("/") == 1)])
def test_commands_and_make_targets_of_pages_exist(page: str) -> None:
    text = _read(page)
    shown = "\n".join([*(code for _, code in _CODE.findall(text)), *re.findall(r"`[^`\n]+`", text)])
    unknown = [words.strip() for words in _COMMAND.findall(shown) if not _is_command(words.split())]
    assert unknown == []
    assert [target for target in _TARGET.findall(shown) if target not in _targets()] == []


@pytest.mark.parametrize("page", _PAGES)
def test_extras_of_pages_exist(page: str) -> None:
    extras = tomllib.loads(_read("pyproject.toml"))["project"]["optional-dependencies"]
    named = ",".join(re.findall(r"\bvicw\[([a-z,]+)\]", _read(page))).split(",")
    assert set(named) - {""} <= set(extras)


def _is_command(words: list[str]) -> bool:
    """Whether the first words name a command: a group needs one of its own after it, or none at all."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("vicw", [], resilient_parsing=True)
    for word in words:
        if not hasattr(command, "list_commands"):
            break
        if word not in command.list_commands(context):
            return False
        _, command, _ = command.resolve_command(context, [word])
    return True


@cache
def _targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", _read("Makefile"), re.MULTILINE))


@cache
def _anchors(page: Path) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    if page.is_dir():
        return frozenset()
    headings = _HEADING.findall(_CODE.sub("", page.read_text("utf-8")))
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return frozenset(re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-") for heading in plain)


def _read(page: str) -> str:
    return (_ROOT / page).read_text("utf-8")
