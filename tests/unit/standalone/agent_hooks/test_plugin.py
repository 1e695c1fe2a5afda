"""What registries and agents read of the package: names and versions agree, and no field is made up."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from vicw_standalone.agent_hooks.connect import SKILL
from vicw_standalone.cli.root_group import COMMANDS

ROOT = Path(__file__).parents[4]
PLUGIN = SKILL.parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

_TEXT = {"type": "string", "minLength": 1}
_INPUT = dict.fromkeys(("name", "description", "value", "default", "placeholder"), _TEXT)
_INPUT |= {name: {"type": "boolean"} for name in ("isRequired", "isSecret")}
_INPUT |= {"format": {"enum": ["string", "number", "boolean", "filepath"]}}


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


_ARGUMENT = _INPUT | {"type": {"const": "positional"}, "valueHint": _TEXT}
_PACKAGE = {
    "registryType": {"enum": ["npm", "pypi", "cargo", "oci", "nuget", "mcpb"]},
    "identifier": _TEXT,
    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$", "maxLength": 255},
    "transport": _object({"type": {"const": "stdio"}}, "type"),
    "packageArguments": {"type": "array", "items": _object(_ARGUMENT, "type", "value")},
    "environmentVariables": {"type": "array", "items": _object(_INPUT, "name")},
}
_ENTRY = _object(
    {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {
            "type": "string",
            "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
            "minLength": 3,
            "maxLength": 200,
        },
        "title": _TEXT | {"maxLength": 100},
        "description": _TEXT | {"maxLength": 100},
        "version": _PACKAGE["version"],
        "packages": {"type": "array", "items": _object(_PACKAGE, "registryType", "identifier", "transport")},
    },
    "$schema",
    "name",
    "description",
    "version",
)
"""What the registry's schema says of the fields that the entry has; stricter, since that lets unknown ones pass."""


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
    jsonschema_rs.validate(_ENTRY, server)
    assert f"mcp-name: {server['name']} " in (ROOT / "README.md").read_text("utf-8")
    (package,) = server["packages"]
    assert (package["registryType"], package["identifier"]) == ("pypi", "vicw")
    assert package["version"] == server["version"] == VERSION
    assert [one["value"] for one in package["packageArguments"]] == ["mcp"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("name",), "vicw"),
        (("description",), "x" * 101),
        (("version",), "^0.1"),
        (("packages", 0, "transport"), {"type": "http"}),
        (("packages", 0, "registry_type"), "pypi"),
        (("packages", 0, "packageArguments", 0), {"type": "positional"}),
        (("packages", 0, "environmentVariables", 0, "is_secret"), True),
    ],
)
def test_a_wrong_entry_of_the_registry_is_found(path: tuple[str | int, ...], value: Any) -> None:
    server = read(ROOT / "server.json")
    inside: Any = server
    for part in path[:-1]:
        inside = inside[part]
    inside[path[-1]] = value
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(_ENTRY, server)
