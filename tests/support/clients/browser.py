"""A real Chromium, and axe, which finds what people with a disability cannot use on a page; fetched by npm once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from support.servers.fetched import fetched, have_fetched
from support.servers.sources import Source, Unavailable

AXE_VERSION = "4.11.0"
_FETCH_SECONDS = 300


def _fetched() -> str:
    folder = fetched(f"axe-core-{AXE_VERSION}", _fetch)
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def _fetch(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("no npm on PATH (Debian, Ubuntu: apt install npm)")
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", f"axe-core@{AXE_VERSION}"]
    have_fetched(command, "npm", "axe", _FETCH_SECONDS, folder)


AXE = Source("npm", _fetched)


def violations(page: Page, axe: str) -> list[tuple[str, list[str]]]:
    """Return the rules that a page breaks, each with the elements that do. Its policy has to be off for axe to run."""
    page.evaluate(axe)
    found: dict[str, Any] = page.evaluate("axe.run()")
    return [(rule["id"], [node["html"][:120] for node in rule["nodes"][:3]]) for rule in found["violations"]]
