"""Changes of agents' configuration files: what VICW adds, and the removal of exactly that."""

from __future__ import annotations

import json
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from vicw_shared.errors import FatalError

SERVER = "vicw"
"""The name of the MCP server in the agents' files."""
_SKILL_MARK = "written-by: vicw-connect"
_PASSED_ON = ["VICW_API_KEY", "VICW_CONTEXT", "VICW_DATA_DIR", "VICW_RETRIEVE_URL", "VICW_URL"]
"""Variables that Codex passes on to the server, if they are set: others than these it keeps to itself."""
_BEGIN, _END = "# Begin of what `vicw connect` wrote", "# End of what `vicw connect` wrote"
_BLOCK = re.compile(rf"\n?{re.escape(_BEGIN)}\n(?:\[mcp_servers\.{SERVER}\]\n(?:(?!\[|{re.escape(_END)}).*\n)*)?")
"""Without the last line: Codex puts tables of its own before a comment at the end of the file."""
_LAST_LINE = re.compile(rf"{re.escape(_END)}\n?")
_HALF_PAIR = re.compile(r"[\ud800-\udfff]")
_INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class ConfigFileError(FatalError):
    """A file of an agent cannot be changed. The text says what to do."""

    title = "A configuration file cannot be changed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file before and after; None: there is none."""

    path: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        """Return what changes, as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        names = (
            "/dev/null" if self.before is None else str(self.path),
            "/dev/null" if self.after is None else str(self.path),
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in unified_diff(old, new, *names))

    def apply(self) -> None:
        """Write the file as a whole, or delete it, with its folder if that is empty. Raises ConfigFileError."""
        try:
            if read_text(self.path) != self.before:
                raise ConfigFileError(f"{self.path} has changed meanwhile: run the command again")
            if self.after is None:
                self.path.unlink()  # no link: ``_without`` leaves the file that one leads to
                if self.path.name == "SKILL.md" and not any(self.path.parent.iterdir()):
                    self.path.parent.rmdir()
            else:
                _write(Path(os.path.realpath(self.path)), self.after)  # a link stays one
        except OSError as error:
            raise ConfigFileError(f"{self.path} cannot be written: {error.strerror or error}") from error


def read_text(path: Path) -> str | None:
    """Return a file's text; None if there is none. Raises ConfigFileError."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeError) as error:
        raise ConfigFileError(f"{path} cannot be read: {error}") from error


def change_json(path: Path, change: Callable[[dict[str, Any]], None]) -> FileChange | None:
    """Return the change of a JSON file; None if it stays as it is. A file that would be empty is deleted.

    Raises ConfigFileError if it holds no JSON object, such as JSON with comments.
    """
    before = read_text(path)
    try:
        values = json.loads(before) if before and before.strip() else {}
    except ValueError as error:
        raise ConfigFileError(f"{path} is not plain JSON ({error}): mend it, or make the change by hand") from None
    if not isinstance(values, dict):
        raise ConfigFileError(f"{path} is not a JSON object: mend it")
    unchanged = json.dumps(values)
    change(values)
    if json.dumps(values) == unchanged:
        return None
    if not values:
        return FileChange(path, before, _without(path, "{}\n"))
    indent = _INDENT.search(before or "")
    text = json.dumps(values, indent=indent[1] if indent else 2, ensure_ascii=False)
    text = _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", text)  # of a text that was cut: no UTF-8
    return FileChange(path, before, _with_line_ends(before, f"{text}\n"))


def add_hooks(values: dict[str, Any], commands: dict[str, tuple[str, int]]) -> None:
    """Add a command with its timeout, in seconds, to each event."""
    hooks = _object(values, "hooks")
    for event, (command, seconds) in commands.items():
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise ConfigFileError(f"hooks.{event} is not a list: mend it")
        groups.append({"hooks": [{"type": "command", "command": command, "timeout": seconds}]})


def remove_hooks(values: dict[str, Any]) -> None:
    """Remove the commands ``vicw hook …``, whoever wrote them, and what is empty without them."""
    hooks = values.get("hooks")
    if not isinstance(hooks, dict):
        return
    has_removed = False
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list):
            continue
        kept = [group for group in map(_without_own, groups) if group is not None]
        if kept != groups:
            has_removed = True
            hooks[event] = kept
            if not kept:
                del hooks[event]
    if has_removed and not hooks:
        del values["hooks"]


def add_server(values: dict[str, Any], key: str, entry: dict[str, Any]) -> None:
    """Add the MCP server below ``key``. Raises ConfigFileError if another one has its name."""
    servers = _object(values, key)
    if SERVER in servers:
        raise ConfigFileError(f"{key}.{SERVER} is there already and runs something else: remove it first")
    servers[SERVER] = entry


def remove_server(values: dict[str, Any], key: str) -> None:
    """Remove the MCP server below ``key`` if it runs ``vicw mcp``."""
    servers = values.get(key)
    entry = servers.get(SERVER) if isinstance(servers, dict) else None
    if isinstance(servers, dict) and isinstance(entry, dict) and _is_own_server(entry):
        del servers[SERVER]
        if not servers:
            del values[key]


def change_toml(path: Path, command: Sequence[str] | None) -> FileChange | None:
    """Return the change of Codex's ``config.toml``: the block of the MCP server, or none for no ``command``.

    Raises ConfigFileError if the file is no TOML, or has such a server that VICW did not write.
    """
    before = read_text(path)
    plain = (before or "").replace("\r\n", "\n")
    text = _LAST_LINE.sub("", _BLOCK.sub("", plain))
    try:
        servers = tomllib.loads(text).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigFileError(f"{path} is not TOML ({error}): mend it") from None
    if command is not None:
        if SERVER in servers:
            raise ConfigFileError(f"{path} has a server {SERVER} that this command did not write: remove it first")
        values = f"command = {json.dumps(command[0])}\nargs = {json.dumps(list(command[1:]))}\n"
        values += f"env_vars = {json.dumps(_PASSED_ON)}\n"
        begun = text if text.endswith("\n") or not text else f"{text}\n"
        text = f"{begun}\n{_BEGIN}\n[mcp_servers.{SERVER}]\n{values}{_END}\n".removeprefix("\n")
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            problem = "has its servers in one line, to which none can be added: write them as tables"
            raise ConfigFileError(f"{path} {problem}") from None
    if text == plain:
        return None
    return FileChange(path, before, _with_line_ends(before, text) if text else _without(path, ""))


def change_skill(path: Path, text: str | None) -> FileChange | None:
    """Return the change of the skill, or its removal for no ``text``. Raises ConfigFileError for another's skill."""
    before = read_text(path)
    if before == text or (text is None and _SKILL_MARK not in (before or "")):
        return None
    if before is not None and _SKILL_MARK not in before:
        raise ConfigFileError(f"{path} is another skill of the same name: move it first")
    return FileChange(path, before, text)


def _without(path: Path, empty: str) -> str | None:
    """Return what a file is without what VICW wrote, if nothing else was in it: empty where a link leads to it."""
    return empty if path.is_symlink() else None


def _with_line_ends(before: str | None, text: str) -> str:
    """Return a text with the line ends of the file before, also if its last line had none."""
    if before and not before.endswith("\n"):
        text = text.removesuffix("\n")
    return text.replace("\n", "\r\n") if before and "\r\n" in before else text


def _object(values: dict[str, Any], key: str) -> dict[str, Any]:
    found = values.setdefault(key, {})
    if not isinstance(found, dict):
        raise ConfigFileError(f"{key} is not an object: mend it")
    return found


def _without_own(group: Any) -> Any:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(hooks, list):
        return group
    kept = [hook for hook in hooks if not _is_own_hook(hook)]
    if kept == hooks:
        return group
    return {**group, "hooks": kept} if kept else None


def _is_own_hook(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return False
    return len(words) > 1 and _is_vicw(words[0]) and words[1] == "hook"


def _is_own_server(entry: dict[str, Any]) -> bool:
    arguments = entry.get("args")
    return _is_vicw(str(entry.get("command"))) and isinstance(arguments, list) and arguments[:1] == ["mcp"]


def _is_vicw(program: str) -> bool:
    return Path(program).stem == "vicw"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
