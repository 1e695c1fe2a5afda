"""What the tests of the mirror look at: folders of Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from support.stores.memory import Memory
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.mirror.visibility import MirrorVisibility

_LINK = re.compile(r"(?<!\\)\[\[([^\]|#^]+)")


def mirror_of(memory: Memory, path: Path, viewer: str = "") -> Mirror:
    return Mirror(memory.standalone.graph, path, memory.tenant, MirrorVisibility(viewer))


def pages(path: Path) -> dict[str, str]:
    """All pages of a mirror, by their paths in it."""
    return {
        file.relative_to(path).as_posix(): file.read_text("utf-8")
        for file in sorted(path.rglob("*.md"))
        if ".vicw-edits" not in file.parts
    }


def everything(path: Path) -> str:
    return "\n".join(pages(path).values())


def links(markdown: str) -> set[str]:
    """The pages that a reader would find links to: those in blocks of code are none."""
    outside, fence = [], ""
    for line in markdown.split("\n"):
        run = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            fence = "" if run and run[1].startswith(fence) else fence
        elif run:
            fence = run[1]
        else:
            outside.append(line)
    return set(_LINK.findall("\n".join(outside)))


def assert_consistent(path: Path) -> None:
    """Every link leads to one page, and every page but the root is reached."""
    found = pages(path)
    names = [Path(name).stem for name in found]
    assert len({name.casefold() for name in names}) == len(names)
    reached = set().union(*map(links, found.values())) if found else set()
    assert sorted(reached - set(names)) == []
    assert set(names) - reached <= {"vicw-mirror"}
