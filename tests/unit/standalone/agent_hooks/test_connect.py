"""``vicw connect`` adds its entries to an agent's files, and ``vicw disconnect`` removes these."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vicw_standalone.agent_hooks.config_files import ConfigFileError
from vicw_standalone.agent_hooks.connect import (
    HOOKS,
    NOT_STORED,
    SKILL,
    STORED,
    AgentConnection,
    ConnectedAgent,
    connect,
    disconnect,
)
from vicw_standalone.agent_hooks.hook import AGENTS
from vicw_standalone.cli import app

SETTINGS = {
    "model": "opus",
    "hooks": {
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "vicwhook other"}]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh hook"}]}],
    },
}
SERVERS = {"mcpServers": {"other": {"command": "other"}}, "numStartups": 3}
CONFIG = '# my settings\nmodel = "gpt"\n\n[mcp_servers.other]\ncommand = "other"\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for folder in (".claude", ".codex", ".cursor", ".vscode"):
        (tmp_path / folder).mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(SETTINGS, indent=4) + "\n")
    (tmp_path / ".claude.json").write_text(json.dumps(SERVERS, indent=2) + "\n")
    (tmp_path / ".codex" / "config.toml").write_text(CONFIG)
    (tmp_path / ".cursor" / "mcp.json").write_text(json.dumps(SERVERS, indent=2) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("agent", ConnectedAgent)
def test_disconnect_leaves_the_files_as_they_were(home: Path, agent: ConnectedAgent) -> None:
    before = files(home)
    for change in connect(agent, AgentConnection("/opt/vicw")):
        change.apply()
    assert files(home) != before
    assert connect(agent, AgentConnection("/opt/vicw")) == [], "once is enough"
    for change in disconnect(agent, None):
        change.apply()
    assert files(home) == before
    assert disconnect(agent, None) == []


def test_claude_code_gets_its_hooks_beside_those_that_are_there(home: Path) -> None:
    for change in connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/my vicw", context="team")):
        change.apply()
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    assert settings["model"] == "opus"
    assert list(settings["hooks"]) == ["UserPromptSubmit", "PreToolUse", "SessionStart", "PreCompact", "SessionEnd"]
    assert settings["hooks"]["UserPromptSubmit"][1] == {
        "hooks": [{"type": "command", "command": "'/opt/my vicw' hook claude-code --context team", "timeout": 5}]
    }
    servers = json.loads((home / ".claude.json").read_text())
    assert servers["mcpServers"]["vicw"] == {
        "type": "stdio",
        "command": "/opt/my vicw",
        "args": ["mcp", "--context", "team"],
    }


@pytest.mark.parametrize(("agent", "folder"), [("claude-code", ".claude"), ("codex", ".codex")])
def test_the_skill_says_whether_sessions_are_stored(home: Path, agent: str, folder: str) -> None:
    assert NOT_STORED in SKILL.read_text(), "a plug-in has no hooks"
    for captures, says in ((True, STORED), (False, NOT_STORED)):
        for change in connect(ConnectedAgent(agent), AgentConnection("/opt/vicw", captures=captures)):
            change.apply()
        written = (home / folder / "skills" / "vicw" / "SKILL.md").read_text()
        assert [line in written for line in (STORED, NOT_STORED)] == [says == STORED, says == NOT_STORED]
        assert written.replace(says, "") == SKILL.read_text().replace(NOT_STORED, "")


def test_codex_gets_a_server_in_its_toml_and_its_own_events(home: Path) -> None:
    for change in connect(ConnectedAgent.CODEX, AgentConnection("/opt/vicw")):
        change.apply()
    config = (home / ".codex" / "config.toml").read_text()
    assert config.startswith(CONFIG)
    assert tomllib.loads(config)["mcp_servers"]["vicw"] == {
        "command": "/opt/vicw",
        "args": ["mcp"],
        "env_vars": ["VICW_API_KEY", "VICW_CONTEXT", "VICW_DATA_DIR", "VICW_RETRIEVE_URL", "VICW_URL"],
    }
    assert list(json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]) == list(HOOKS[ConnectedAgent.CODEX])


FORMER: dict[ConnectedAgent, tuple[str, str]] = {
    ConnectedAgent.CURSOR: (".cursor/mcp.json", '{"mcpServers": {"vicw": {"command": "/opt/vicw", "args": ["mcp"]}}}'),
    ConnectedAgent.VSCODE: (
        ".vscode/mcp.json",
        '{"servers": {"vicw": {"type": "stdio", "command": "/opt/vicw", "args": ["mcp"]}}}',
    ),
    ConnectedAgent.CODEX: (
        ".codex/config.toml",
        '# Begin of what `vicw connect` wrote\n[mcp_servers.vicw]\ncommand = "/opt/vicw"\nargs = ["mcp"]\n'
        "# End of what `vicw connect` wrote\n",
    ),
}
"""Entries as an earlier version wrote them."""


@pytest.mark.parametrize("agent", FORMER)
def test_entries_of_the_former_form_are_replaced_and_removed(home: Path, agent: ConnectedAgent) -> None:
    name, former = FORMER[agent]
    path = home / name
    path.write_text(former)
    change(agent)
    written = path.read_text()
    path.unlink()
    change(agent)
    values = [
        tomllib.loads(text) if name.endswith("toml") else json.loads(text) for text in (written, path.read_text())
    ]
    assert values[0] == values[1], "as if it were connected for the first time"
    path.write_text(former)
    undo(agent)
    assert not path.exists()


def test_cursor_and_vs_code_say_which_folder_is_open(home: Path) -> None:
    for agent in (ConnectedAgent.CURSOR, ConnectedAgent.VSCODE):
        change(agent)
    cursor = json.loads((home / ".cursor/mcp.json").read_text())["mcpServers"]["vicw"]
    vscode = json.loads((home / ".vscode/mcp.json").read_text())["servers"]["vicw"]
    assert cursor == {"command": "/opt/vicw", "args": ["mcp", "--folder", "${workspaceFolder}"]}
    assert vscode == {"type": "stdio", "cwd": "${workspaceFolder}", "command": "/opt/vicw", "args": ["mcp"]}


def test_without_capture_nothing_is_offloaded(home: Path) -> None:
    changes = connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/vicw", captures=False))
    settings = next(change for change in changes if change.path.name == "settings.json")
    hooks = json.loads(settings.after or "")["hooks"]
    assert list(hooks) == ["UserPromptSubmit", "PreToolUse", "SessionStart"]


def test_options_change_what_is_there_already(home: Path) -> None:
    for connection in (
        AgentConnection("/opt/vicw"),
        AgentConnection("/usr/bin/vicw", url="https://memory.example.org"),
    ):
        for change in connect(ConnectedAgent.CODEX, connection):
            change.apply()
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    commands = [hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]]
    assert commands == ["/usr/bin/vicw hook codex --url https://memory.example.org"] * 4


@pytest.mark.parametrize("text", ['{"a": 1} // comment', "[1]", '{"hooks": {"SessionStart": {}}}', '{"hooks": []}'])
def test_a_file_that_cannot_be_read_is_left_alone(home: Path, text: str) -> None:
    path = home / ".claude" / "settings.json"
    path.write_text(text)
    with pytest.raises(ConfigFileError, match="mend it"):
        connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/vicw"))
    assert path.read_text() == text


def test_another_server_and_another_skill_of_the_name_are_left_alone(home: Path) -> None:
    (home / ".cursor" / "mcp.json").write_text('{"mcpServers": {"vicw": {"command": "mine"}}}')
    with pytest.raises(ConfigFileError, match="remove it first"):
        connect(ConnectedAgent.CURSOR, AgentConnection("/opt/vicw"))
    assert disconnect(ConnectedAgent.CURSOR, None) == []
    skill = home / ".claude" / "skills" / "vicw" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: vicw\n---\nmine\n")
    with pytest.raises(ConfigFileError, match="another skill"):
        connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/vicw"))
    assert disconnect(ConnectedAgent.CLAUDE_CODE, None) == []


def test_a_link_stays_a_link(home: Path) -> None:
    settings, target = home / ".claude" / "settings.json", home / "dotfiles.json"
    settings.rename(target)
    settings.symlink_to(target)
    for change in connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/vicw")):
        change.apply()
    assert settings.is_symlink()
    assert "SessionEnd" in json.loads(target.read_text())["hooks"]


def change(agent: ConnectedAgent) -> None:
    for one in connect(agent, AgentConnection("/opt/vicw")):
        one.apply()


def undo(agent: ConnectedAgent) -> None:
    for one in disconnect(agent, None):
        one.apply()


def test_tables_that_codex_puts_before_the_last_comment_stay(home: Path) -> None:
    path = home / ".codex" / "config.toml"
    change(ConnectedAgent.CODEX)
    end = "# End of what `vicw connect` wrote\n"
    trust = '[projects."/work"]\ntrust_level = "trusted"\n'
    path.write_text(path.read_text().replace(end, f"\n{trust}{end}"))
    change(ConnectedAgent.CODEX)
    assert tomllib.loads(path.read_text())["projects"]["/work"]["trust_level"] == "trusted"
    undo(ConnectedAgent.CODEX)
    assert tomllib.loads(path.read_text()) == tomllib.loads(CONFIG + trust)


def test_servers_in_one_line_are_left_alone(home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.write_text('mcp_servers = { other = { command = "x" } }\n')
    with pytest.raises(ConfigFileError, match="in one line"):
        change(ConnectedAgent.CODEX)
    assert path.read_text() == 'mcp_servers = { other = { command = "x" } }\n'


@pytest.mark.parametrize("ends", ["\r\n", "no last one"])
def test_line_ends_stay(home: Path, ends: str) -> None:
    changed = {}
    for path in (home / ".claude" / "settings.json", home / ".claude.json", home / ".codex" / "config.toml"):
        text = path.read_text()
        changed[path] = text.replace("\n", "\r\n") if ends == "\r\n" else text.removesuffix("\n")
        path.write_bytes(changed[path].encode())
    for agent in (ConnectedAgent.CLAUDE_CODE, ConnectedAgent.CODEX):
        change(agent)
        undo(agent)
    assert {path: path.read_bytes().decode() for path in changed} == changed


def test_half_a_surrogate_pair_stays(home: Path) -> None:
    (home / ".claude.json").write_text('{\n  "last": "\\ud83d"\n}\n')
    change(ConnectedAgent.CLAUDE_CODE)
    undo(ConnectedAgent.CLAUDE_CODE)
    assert (home / ".claude.json").read_text() == '{\n  "last": "\\ud83d"\n}\n'


def test_what_was_never_connected_stays(home: Path) -> None:
    (home / ".claude" / "settings.json").write_text('{"hooks": {}}')
    assert disconnect(ConnectedAgent.CLAUDE_CODE, None) == []


def test_a_link_to_a_file_that_would_be_empty_stays(home: Path) -> None:
    real = home / "dotfiles.json"
    (home / ".claude" / "settings.json").rename(real)
    real.write_text("{}\n")
    (home / ".claude" / "settings.json").symlink_to(real)
    change(ConnectedAgent.CLAUDE_CODE)
    undo(ConnectedAgent.CLAUDE_CODE)
    assert real.read_text() == "{}\n" and (home / ".claude" / "settings.json").is_symlink()


def test_a_file_that_changes_meanwhile_is_not_overwritten(home: Path) -> None:
    (change, *_) = connect(ConnectedAgent.CLAUDE_CODE, AgentConnection("/opt/vicw"))
    change.path.write_text("{}")
    with pytest.raises(ConfigFileError, match="has changed meanwhile"):
        change.apply()


def test_the_command_shows_what_it_will_change_and_asks(home: Path) -> None:
    before = files(home)
    shown = CliRunner().invoke(app, ["connect", "codex", "--dry-run"])
    assert shown.exit_code == 0, shown.output
    assert '+            "command": "' in shown.output
    declined = CliRunner().invoke(app, ["connect", "codex"], input="n\n")
    assert "Make these changes?" in declined.output
    assert files(home) == before
    assert CliRunner().invoke(app, ["connect", "codex", "--yes", "--project"]).exit_code == 0
    assert (home / ".codex" / "hooks.json").exists()
    removed = CliRunner().invoke(app, ["disconnect", "codex", "--project", "--yes"])
    assert removed.exit_code == 0, removed.output
    assert files(home) == before


def test_a_folder_without_a_project_is_told_of(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VICW_CONTEXT", raising=False)
    project = home / "novel"
    project.mkdir()
    monkeypatch.chdir(project)
    told = "This folder is in no Git checkout"
    for agent, options, is_told in (
        ("codex", ["--project"], True),
        ("vscode", [], True),
        ("vscode", ["--context", "novel"], False),
        ("codex", [], False),
    ):
        assert (told in CliRunner().invoke(app, ["connect", agent, "--dry-run", *options]).output) == is_told
    (project / ".git").mkdir()
    assert told not in CliRunner().invoke(app, ["connect", "vscode", "--dry-run"]).output


def test_the_hooks_run_the_command_that_connected_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = home / "venv" / "vicw"
    program.parent.mkdir()
    program.touch()
    monkeypatch.setattr("sys.argv", [str(program), "connect"])
    assert CliRunner().invoke(app, ["connect", "codex", "--yes"]).exit_code == 0
    hooks = json.loads((home / ".codex" / "hooks.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == f"{program} hook codex"


def test_a_hook_of_the_user_that_runs_the_same_command_goes_too(home: Path) -> None:
    path = home / ".claude" / "settings.json"
    own = {"matcher": "startup", "hooks": [{"type": "command", "command": "vicw hook claude-code --seconds 1"}]}
    settings = json.loads(path.read_text())
    settings["hooks"]["SessionStart"] = [own]
    path.write_text(json.dumps(settings))
    for change in disconnect(ConnectedAgent.CLAUDE_CODE, None):
        change.apply()
    assert json.loads(path.read_text()) == SETTINGS


def test_every_agent_with_hooks_has_an_endpoint() -> None:
    assert {agent.value for agent in HOOKS} == set(AGENTS)
