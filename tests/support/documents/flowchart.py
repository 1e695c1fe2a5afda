"""A small grammar of the flowcharts that are drawn: what is not of it, Mermaid might read in a way of its own."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

_LABEL = r'"(?P<label>(?:[^"#<>&;`\\{}|\[\]%$*_]|(?<=[^\W_])_(?=[^\W_])|#(?:\d+|quot|amp|lt|gt);|<br/>)+)"'
_SHAPES = r"(?P<open>\(\[|\[\(|\[\[|\[/|\(\(|\{\{|\[|\()" + _LABEL + r"(?P<close>\]\)|\)\]|\]\]|/\]|\)\)|\}\}|\]|\))"
_BOX = re.compile(rf"    n(?P<box>\d+){_SHAPES}:::(?P<kind>[a-z]+)")
_LINE = re.compile(rf"    n(?P<source>\d+) (?P<arrow>-->|==>|-\.->)(?:\|{_LABEL}\|)? n(?P<target>\d+)")
_CLASS_DEF = re.compile(r"    classDef (?P<kind>[a-z]+) (?:[a-z-]+:[#\w ]+)(?:,[a-z-]+:[#\w ]+)*")
_CLASS = re.compile(r"    class (?P<boxes>n\d+(?:,n\d+)*) (?P<kind>[a-z]+)")
_CLOSES = {"([": "])", "[(": ")]", "[[": "]]", "[/": "/]", "((": "))", "{{": "}}", "[": "]", "(": ")"}


@dataclass(slots=True)
class Chart:
    """A flowchart: labels of boxes in order, lines as (source, arrow, label, target), classes by label."""

    boxes: list[str] = field(default_factory=list)
    lines: list[tuple[str, str, str, str]] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)


def read(text: str) -> Chart:
    """Read a flowchart; fails at the first line that is not of the grammar."""
    chart = Chart()
    defined: set[str] = set()
    head, *rest = text.splitlines()
    assert head == "flowchart LR"
    assert text.endswith("\n")
    for line in rest:
        if found := _BOX.fullmatch(line):
            assert int(found["box"]) == len(chart.boxes)
            assert found["close"] == _CLOSES[found["open"]]
            chart.boxes.append(_shown(found["label"]))
            chart.kinds.setdefault(_shown(found["label"]), set()).add(found["kind"])
        elif found := _LINE.fullmatch(line):
            source, target = (chart.boxes[int(found[end])] for end in ("source", "target"))
            chart.lines.append((source, found["arrow"], _shown(found["label"] or ""), target))
        elif found := _CLASS_DEF.fullmatch(line):
            defined.add(found["kind"])
        elif found := _CLASS.fullmatch(line):
            for box in found["boxes"].split(","):
                chart.kinds[chart.boxes[int(box[1:])]].add(found["kind"])
        else:
            raise AssertionError(f"not of the grammar: {line!r}")
    assert set().union(*chart.kinds.values()) == defined
    return chart


def _shown(label: str) -> str:
    """Return what a reader sees of a label."""
    return html.unescape(re.sub(r"#(\d+);", r"&#\1;", re.sub(r"#([a-z]+);", r"&\1;", label.replace("<br/>", "\n"))))
