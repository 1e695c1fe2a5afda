"""What registries and agents read of the package: names and versions agree, and no field is made up."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from vicw_standalone.agent_hooks.connect import SKILL
from vicw_standalone.cli.root_group import COMMANDS

ROOT = Path(__file__).parents[4]
PLUGIN = SKILL.parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def test_the_plug_in_has_only_fields_of_the_specification() -> None:
    manifest = read(PLUGIN / "plugin.json")
    assert manifest.keys() <= {
        *("$schema", "name", "version", "description", "author", "homepage", "repository", "license", "keywords"),
        "extensions",
    }
    assert manifest["$schema"] == "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    assert (manifest["name"], manifest["version"]) == ("vicw", VERSION)
    servers = read(PLUGIN / "mcp.json")
    assert servers.pop("$schema") == "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"
    assert servers == {"mcpServers": {"vicw": {"type": "stdio", "command": "vicw", "args": ["mcp"]}}}
    assert "mcp" in COMMANDS


def test_the_skill_is_named_as_its_folder_and_described() -> None:
    front = re.match(r"---\n(.*?)\n---\n", SKILL.read_text("utf-8"), re.DOTALL)
    assert front is not None
    fields = dict(re.findall(r"^([a-z-]+): (.+)$", front[1], re.MULTILINE))
    assert fields["name"] == SKILL.parent.name
    assert 0 < len(fields["description"]) <= 1024


def test_the_registrys_entry_is_that_of_the_package() -> None:
    server = read(ROOT / "server.json")
    assert f"mcp-name: {server['name']} " in (ROOT / "README.md").read_text("utf-8")
    assert len(server["description"]) <= 100
    (package,) = server["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "vicw")
    assert package["version"] == server["version"] == VERSION
    assert [one["value"] for one in package["packageArguments"]] == ["mcp"]
