from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from vicw_shared.errors import SettingsError
from vicw_standalone.cli import app as vicw
from vicw_standalone.cli import plugins


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Make a package with an entry point, as pip would leave it."""
    (folder / "weather_memory.py").write_text(body)
    info = folder / "weather_memory-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-memory\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[vicw.commands]\nweather = weather_memory:app\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "weather_memory", raising=False)


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def check() -> None:
        print("checked")

    return app


def refusal(app: typer.Typer, *command: str) -> str:
    error = CliRunner().invoke(app, list(command)).exception
    assert isinstance(error, SettingsError)
    return error.detail


def test_an_installed_package_adds_a_group_of_commands(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        tmp_path,
        monkeypatch,
        "import typer\napp = typer.Typer()\n"
        "@app.command()\ndef today():\n    print('rain')\n"
        "@app.command()\ndef tomorrow():\n    print('sun')\n",
    )
    plugins.register(app, "weather")
    assert CliRunner().invoke(app, ["weather", "today"]).output == "rain\n"


@pytest.mark.parametrize(
    ("body", "reason"), [("raise ValueError('no licence')", "no licence"), ("app = 3", "3 is no Typer application")]
)
def test_a_broken_package_fails_by_its_name_and_leaves_the_other_commands(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str
) -> None:
    install(tmp_path, monkeypatch, body)
    plugins.register(app, "weather")
    assert CliRunner().invoke(app, ["check"]).output == "checked\n"
    told = refusal(app, "weather", "today", "--at", "noon")
    assert told == (
        f"the command 'weather' of the package 'weather-memory' (weather_memory:app) cannot be loaded: {reason}"
    )


def test_the_list_of_commands_names_those_of_packages_without_importing_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "raise ValueError('no licence')")
    shown = CliRunner().invoke(vicw, ["--help"], env={"COLUMNS": "120"}).output
    assert "Commands of the package weather-memory." in shown
    assert "weather_memory" not in sys.modules
    told = CliRunner().invoke(vicw, ["weather"]).exception
    assert isinstance(told, SettingsError)
    assert "'weather-memory'" in told.detail


def test_a_package_does_not_replace_a_command_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "raise ValueError('no licence')")
    points = tmp_path / "weather_memory-1.0.dist-info" / "entry_points.txt"
    points.write_text("[vicw.commands]\nretrieve = weather_memory:app\n")
    assert "Retrieve evidence for a question." in CliRunner().invoke(vicw, ["retrieve", "--help"]).output
