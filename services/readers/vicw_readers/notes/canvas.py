"""Reader of canvases of Obsidian (JSON Canvas 1.0): cards with text, links and names of groups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from vicw_core.markdown.note_titles import note_title
from vicw_readers.intake.file_start import FileStart
from vicw_readers.intake.source_file import SourceFile
from vicw_readers.records import NothingToReadError, Record, UnreadableFileError, bounded_id, bounded_name
from vicw_shared.text import visible


class CanvasReader:
    """Cards of a canvas, from top to bottom."""

    name = "canvas"
    title = "Canvas"
    files = ("*.canvas",)
    keeps = "text of each card, its group, and what its arrows lead to"
    leaves = "places and colours; the files that cards show, which are read by themselves"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it is JSON with nodes, under the suffix of a canvas."""
        return start.suffix == ".canvas" and start.text is not None

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield an item for each card with text of its own."""
        nodes, arrows = _parsed(source.text())
        names = {node["id"]: _name(node) for node in nodes}
        groups = [node for node in nodes if node.get("type") == "group" and visible(str(node.get("label", "")))]
        found = False
        for node in sorted(nodes, key=_place):
            text = node.get("text") if node.get("type") == "text" else node.get("url")
            if not isinstance(text, str) or not visible(text):
                continue
            found = True
            group = next((str(each["label"]) for each in groups if _is_inside(node, each)), None)
            leads_to = [names[end] for start, end in arrows if start == node["id"] and end in names]
            metadata: dict[str, Any] = {"group": group} if group else {}
            metadata |= {"leads_to": leads_to} if leads_to else {}
            yield source.item(
                {
                    "id": bounded_id(f"{source.name}#{node['id']}"),
                    "text": text,
                    "name": bounded_name(" > ".join(filter(None, (note_title(source.name), group)))),
                    "subtype": "card",
                    "metadata": metadata,
                    "source": bounded_id(source.name),
                }
            )
        if not found:
            raise NothingToReadError("is a canvas without text of its own")


class ObsidianViewReader:
    """Views over notes: they have no text of their own."""

    name = "obsidian-base"
    title = "Obsidian base"
    files = ("*.base",)
    keeps = "nothing: it is a view of notes, which are read by themselves"
    leaves = "the view"
    is_personal = False

    def recognises(self, start: FileStart) -> bool:
        """Return whether it has the suffix of a base, and its keys."""
        keys = ("filters:", "views:", "formulas:", "properties:")
        return start.suffix == ".base" and start.text is not None and start.text.lstrip().startswith(keys)

    def read(self, source: SourceFile) -> Iterator[Record]:
        """Yield that there is nothing to read."""
        yield source.skip("is a view of notes, which are read by themselves")


def _parsed(text: str) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Return the nodes that have an id, and the ends of the arrows. Raises UnreadableFileError."""
    try:
        canvas = json.loads(text) if visible(text) else {}
    except (ValueError, RecursionError) as error:
        raise UnreadableFileError(f"is a canvas that is no valid JSON: {error}") from None
    if not isinstance(canvas, dict):
        raise UnreadableFileError("is a canvas that is no JSON object")
    nodes = [node for node in _objects(canvas, "nodes") if isinstance(node.get("id"), str)]
    arrows = [(str(edge.get("fromNode")), str(edge.get("toNode"))) for edge in _objects(canvas, "edges")]
    return nodes, arrows


def _objects(canvas: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = canvas.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _name(node: dict[str, Any]) -> str:
    said = (node.get(key) for key in ("label", "file", "url", "text"))
    return next((text.strip().split("\n")[0][:100] for text in said if isinstance(text, str) and text.strip()), "")


def _place(node: dict[str, Any]) -> tuple[float, float]:
    return _number(node, "y"), _number(node, "x")


def _number(node: dict[str, Any], key: str) -> float:
    value = node.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else 0.0


def _is_inside(node: dict[str, Any], group: dict[str, Any]) -> bool:
    """Return whether a card's corner lies in a group's rectangle."""
    x, y = _number(node, "x") - _number(group, "x"), _number(node, "y") - _number(group, "y")
    return node is not group and 0 <= x < _number(group, "width") and 0 <= y < _number(group, "height")
