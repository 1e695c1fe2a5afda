"""The public MCP inspector's command-line mode, fetched by npm once a machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.servers.fetched import fetched, have_fetched
from support.servers.sources import Source, Unavailable

VERSION = "2.12.0"
_LAUNCHER = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_FETCH_SECONDS = 600
_CALL_SECONDS = 120


@dataclass(frozen=True, slots=True)
class McpInspector:
    """``folder`` is where npm put it."""

    folder: Path

    def call(self, target: Sequence[str], *method: str) -> dict[str, Any]:
        """Return the server's answer to one method; ``target`` is an address, or a command with its arguments."""
        # Its catalog is its user's file otherwise.
        ran = subprocess.run(
            ["node", str(self.folder / _LAUNCHER), "--cli", *target, *method],
            env=os.environ | {"MCP_CATALOG_PATH": str(self.folder / "catalog.json")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_CALL_SECONDS,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        answer: dict[str, Any] = json.loads(ran.stdout)
        return answer


def _fetched() -> McpInspector:
    return McpInspector(fetched(f"mcp-inspector-{VERSION}", _fetch))


def _fetch(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        raise Unavailable("no npm on PATH (Debian, Ubuntu: apt install npm)")
    folder.mkdir()
    (folder / "package.json").write_text('{"private": true}')
    # Its install scripts build the web page, which nobody looks at here.
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional"]
    command = [npm, "install", *options, f"@modelcontextprotocol/inspector@{VERSION}"]
    have_fetched(command, "npm", "the MCP inspector", _FETCH_SECONDS, folder)


INSPECTOR = Source("npm", _fetched)
