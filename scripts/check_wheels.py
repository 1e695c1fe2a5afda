"""Show for which machines every dependency has a wheel, so that `pip install` needs no compiler there.

Usage: python scripts/check_wheels.py [REQUIREMENT ...]      vicw by default; 'vicw[platform,traces]' for a service

Resolves each requirement for each version of Python and each platform, as pip would there, and downloads what it found
(`pip download --only-binary=:all: --platform … --python-version …`): about 100 MB for a cell of the table, from the
index or the cache. Needs the wheels that `make dist` makes, and scripts/uv. Exits with 1 if a wheel is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
UV = str(ROOT / "scripts" / "uv")
LINKS = ["--find-links", str(ROOT / "dist")]
PYTHONS = ("3.12", "3.13", "3.14")


class Platform(NamedTuple):
    """A kind of machine: its name, what uv calls it, and the tags of its wheels."""

    name: str
    target: str
    tags: tuple[str, ...]


def _linux(machine: str) -> tuple[str, ...]:
    return (*(f"manylinux_2_{minor}_{machine}" for minor in (28, 27, 26, 24, 17, 12, 5)), f"manylinux2014_{machine}")


PLATFORMS = (
    Platform("Linux x86-64", "x86_64-manylinux_2_28", _linux("x86_64")),
    Platform("Linux arm64", "aarch64-manylinux_2_28", _linux("aarch64")),
    Platform("macOS 14 arm64", "aarch64-apple-darwin", ("macosx_14_0_arm64",)),
    Platform("macOS 14 x86-64", "x86_64-apple-darwin", ("macosx_14_0_x86_64",)),
    Platform("Windows x86-64", "x86_64-pc-windows-msvc", ("win_amd64",)),
)


def run(*command: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Return the ended process with its output."""
    environment = os.environ | {"MACOSX_DEPLOYMENT_TARGET": "14.0"}  # what uv's names of Macs mean
    return subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment, check=False)


def resolve(requirement: str, python: str, platform: Platform) -> tuple[list[str], str]:
    """Return the pinned packages, or the reason why there are none."""
    options = ["--only-binary", ":all:", "--no-header", "--no-annotate", "--quiet"]
    target = ["--python-version", python, "--python-platform", platform.target]
    done = run(UV, "pip", "compile", "-", *target, *options, *LINKS, stdin=requirement)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith(("#", "-"))]
    return (lines, "") if done.returncode == 0 else ([], done.stderr.strip())


def download(pins: list[str], python: str, platform: Platform, folder: Path) -> bool:
    """Download the wheels of these packages; false if one has none."""
    tags = [part for tag in platform.tags for part in ("--platform", tag)]
    version = "cp" + python.replace(".", "")
    abis = [part for abi in (version, "abi3", "none") for part in ("--abi", abi)]
    target = ["--python-version", python, "--implementation", "cp", *abis, *tags]
    fixed = ["--only-binary=:all:", "--no-deps", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    return run(UV, "tool", "run", "--quiet", "pip", "download", *fixed, *target, *LINKS, *pins).returncode == 0


def check(requirement: str, python: str, platform: Platform) -> tuple[str, list[str]]:
    """Return the cell of the table, and what is missing."""
    pins, reason = resolve(requirement, python, platform)
    if not pins:
        return "none", [reason]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not download(pins, python, platform, folder):
            missing = [pin for pin in pins if not download([pin], python, platform, folder)]
            return f"{len(missing)} missing", missing
        megabytes = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
        return f"{len(pins)}, {megabytes:.0f} MB", []


def main() -> int:
    """Print a table for each requirement."""
    failed = False
    for requirement in sys.argv[1:] or ["vicw"]:
        print(f"{requirement + ': wheels':<34}" + "".join(f"{python:>16}" for python in PYTHONS), flush=True)
        for platform in PLATFORMS:
            cells = [check(requirement, python, platform) for python in PYTHONS]
            print(f"{platform.name:<34}" + "".join(f"{cell:>16}" for cell, _ in cells), flush=True)
            for python, (_, missing) in zip(PYTHONS, cells, strict=True):
                failed |= bool(missing)
                for one in missing:
                    print(f"    {python}: {one}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
