"""Drawing of a part of the graph for people: fewer boxes than nodes, and readable labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vicw_shared.clock import format_minute
from vicw_shared.model import Label
from vicw_shared.text import fold_case
from vicw_shared.wire.graph import GraphAnswer, WalkedNode
from vicw_shared.wire.retrieve import GraphEdge
from vicw_standalone.drawing.mermaid import Box, DiagramLine, Shape, write

_MERGED = "MERGED_INTO"
_CAUSAL = frozenset({"CAUSED", "ENABLED"})
_MERE = frozenset({"MENTIONS", "EVIDENCED_BY", "BELONGS_TO", "HAPPENED_AFTER", "NEXT"})
_NAME_CHARS = 60
_DESC_CHARS = 40
_DESCRIBED = frozenset({"HAS_RELATIONSHIP", "RELATED_TO"})
_OF_PEOPLE = frozenset({"HAS_RELATIONSHIP", "IS_PERSON"})
_PEOPLE = frozenset({"person", "user", "agent"})
_DOCUMENTS = frozenset({"file", "url", "document", "page", "section", "folder"})
_CODE = frozenset({"class", "function", "method", "module", "symbol", "interface", "struct", "enum", "trait", "type"})

PERSON = Shape("person", "([", "])", "fill:#fde9d9,stroke:#c0722b,color:#222222")
THING = Shape("thing", "[", "]", "fill:#f2f2f2,stroke:#8a8a8a,color:#222222")
DOCUMENT = Shape("document", "[/", "/]", "fill:#fff8dc,stroke:#b59b3b,color:#222222")
CODE = Shape("code", "[[", "]]", "fill:#e4f3e4,stroke:#4d8a4d,color:#222222")
CONCEPT = Shape("concept", "{{", "}}", "fill:#efe6f7,stroke:#7d5ba6,color:#222222")
EVENT = Shape("event", "[", "]", "fill:#e3eefb,stroke:#3f6fa8,color:#222222")
STATEMENT = Shape("statement", "(", ")", "fill:#ffffff,stroke:#3f6fa8,color:#222222")
PROOF = Shape("proof", "[(", ")]", "fill:#fafafa,stroke:#b0b0b0,color:#222222")
ROOT = Shape("root", "((", "))", "fill:#ffffff,stroke:#444444,color:#222222")


@dataclass(frozen=True, slots=True)
class Style:
    """Options of a picture: show merged entities apart (``merges``), show boxes without a line (``lonely``)."""

    merges: bool = False
    lonely: bool = True


DEFAULT = Style()


def draw(answer: GraphAnswer, style: Style = DEFAULT) -> str:
    """Return the picture in Mermaid's syntax; the same answer always gives the same picture."""
    nodes = {node.uid: node for node in answer.nodes}
    box_of = _boxes_of(answer, nodes, style)
    lines = _lines(answer, nodes, box_of, style)
    joined = {end for source, target, _, _ in lines for end in (source, target)}
    shown = [uid for uid in nodes if box_of[uid] == uid and (style.lonely or uid in joined)]
    place = {uid: number for number, uid in enumerate(shown)}
    starts = {box_of[uid] for uid in answer.start if uid in nodes}
    people = {end for e in answer.edges if e.type in _OF_PEOPLE for end in (box_of[e.source], box_of[e.target])}
    texts = _texts(answer, nodes)
    boxes = [_box(nodes[uid], start=uid in starts, person=uid in people, what=texts.get(uid)) for uid in shown]
    drawn = [DiagramLine(place[source], place[target], label, arrow) for source, target, label, arrow in lines]
    return write(boxes, sorted(drawn, key=lambda line: (line.source, line.target, line.arrow, line.label)))


def _texts(answer: GraphAnswer, nodes: Mapping[str, WalkedNode]) -> dict[str, str]:
    """Return labels that tell apart boxes of one name: an item, and the page or file whose text it is."""
    labels: dict[str, str] = {}
    for edge in answer.edges:
        item, entity = nodes[edge.source], nodes[edge.target]
        is_text = (
            edge.type == "MENTIONS"
            and item.label is entity.label is Label.ENTITY
            and fold_case(item.name) == fold_case(entity.name)
        )
        if is_text and item.id is not None and entity.id is None:
            labels |= {item.uid: f"text of the {entity.subtype}", entity.uid: entity.subtype}
    return labels


def _boxes_of(answer: GraphAnswer, nodes: Mapping[str, WalkedNode], style: Style) -> dict[str, str]:
    """Return, for each node, the node whose box shows it."""
    into: dict[str, str] = {}
    if not style.merges:
        into |= {e.source: e.target for e in answer.edges if e.type == _MERGED}
    touching = _touching(answer.edges)
    same: dict[tuple[str, str], str] = {}
    for uid, node in nodes.items():
        if node.source_item is None:
            continue
        if _is_shown_by_item(node, touching, nodes):
            into[uid] = node.source_item
        else:  # equal statements of two texts share a box
            first = same.setdefault((node.context, fold_case(node.name)), uid)
            if first != uid:
                into[uid] = first
    return {uid: _end(uid, into) for uid in nodes}


def _is_shown_by_item(
    node: WalkedNode, touching: Mapping[str, Sequence[GraphEdge]], nodes: Mapping[str, WalkedNode]
) -> bool:
    """Return whether the box of a statement's item, if it is in the picture, already shows all of the statement."""
    if node.source_item is None or node.source_item not in nodes:
        return False
    own = [edge for edge in touching[node.uid] if edge.type not in _MERE]
    actors = {edge.source for edge in touching[node.source_item] if edge.type == "INITIATED"}
    return all(edge.type == "INITIATED" and edge.source in actors for edge in own)


def _touching(edges: Iterable[GraphEdge]) -> Mapping[str, Sequence[GraphEdge]]:
    touching: dict[str, list[GraphEdge]] = defaultdict(list)
    for edge in edges:
        touching[edge.source].append(edge)
        touching[edge.target].append(edge)
    return touching


def _end(uid: str, into: Mapping[str, str]) -> str:
    passed: set[str] = set()
    while uid in into and uid not in passed:
        passed.add(uid)
        uid = into[uid]
    return min(passed) if uid in passed else uid


def _lines(
    answer: GraphAnswer, nodes: Mapping[str, WalkedNode], box_of: Mapping[str, str], style: Style
) -> list[tuple[str, str, str, str]]:
    """Return each line once: source, target, label, arrow."""
    lines: dict[tuple[str, str, str, str], None] = {}
    certainties: dict[tuple[str, str, str, str], float | None] = {}
    for edge in answer.edges:
        source, target = box_of[edge.source], box_of[edge.target]
        if source == target or (edge.type == _MERGED and not style.merges):
            continue
        key = (source, target, edge.type, edge.desc or "")
        certainty_of_edge = edge.certainty if edge.certainty is not None else edge.confidence
        certainties[key] = max((c for c in (certainty_of_edge, certainties.get(key)) if c is not None), default=None)
    for (source, target, edge_type, desc), certainty in certainties.items():
        lines[source, target, _label(edge_type, desc, certainty), _arrow(edge_type)] = None
    joined = {frozenset(line[:2]) for line in lines}
    for uid, node in nodes.items():
        item = box_of.get(node.source_item or "")
        if item is not None and item != box_of[uid] and frozenset({item, box_of[uid]}) not in joined:
            lines[item, box_of[uid], "states", "-.->"] = None
    return list(lines)


def _label(edge_type: str, desc: str, certainty: float | None) -> str:
    if desc and edge_type in _DESCRIBED:
        return _cut(desc, _DESC_CHARS)
    parts = [edge_type, f"{certainty:.2f}" if certainty is not None else "", _cut(desc, _DESC_CHARS)]
    return " ".join(filter(None, parts))


def _arrow(edge_type: str) -> str:
    if edge_type in _CAUSAL:
        return "==>"
    return "-.->" if edge_type == "MENTIONS" else "-->"


def _box(node: WalkedNode, *, start: bool, person: bool, what: str | None) -> Box:
    end = node.valid_to or node.retired_at
    marks = [mark for mark, holds in (("start", start), ("past", end is not None)) if holds]
    head = [
        what,
        node.speaker if _is_item_event(node) else None,
        _when(node),
        f"until {format_minute(end)}" if end else None,
    ]
    lines = [", ".join(filter(None, head)), _cut(_shown_name(node), _NAME_CHARS)]
    return Box(PERSON if person else _shape(node), [line for line in lines if line], marks)


def _shown_name(node: WalkedNode) -> str:
    """Return the shown name of a node: the text of a message without a title, else its name."""
    untitled = node.speaker is not None and fold_case(node.name) == fold_case(node.speaker)
    return node.text if untitled and node.text else node.name


def _when(node: WalkedNode) -> str | None:
    return format_minute(node.timestamp) if _is_item_event(node) else None


def _is_item_event(node: WalkedNode) -> bool:
    return node.label is Label.EVENT and node.source_item is None


def _shape(node: WalkedNode) -> Shape:
    subtype = fold_case(node.subtype)
    if node.label is Label.EVENT:
        return EVENT if node.source_item is None else STATEMENT
    if node.label is not Label.ENTITY:
        return {Label.CONCEPT: CONCEPT, Label.CHUNK: PROOF}.get(node.label, ROOT)
    if subtype in _PEOPLE:
        return PERSON
    if subtype in _CODE:
        return CODE
    return DOCUMENT if node.id is not None or subtype in _DOCUMENTS else THING


def _cut(text: str, room: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"
