"""The write path is its stages in the order that its docstring says, and what they hand over is frozen."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from pathlib import Path

import pytest

import vicw_ingest
from vicw_ingest import pipeline
from vicw_ingest.check.service import Checked
from vicw_ingest.commit import Committed, ReceiptKeys
from vicw_ingest.dedup.detector import Duplicate
from vicw_ingest.pipeline import Extracted
from vicw_ingest.plan.builder import PlannedGraph
from vicw_ingest.plan.service import PlanInput, PlannedItems, PlannedPages, PlanRules, WritePlan

STAGES = {
    "check": "check",
    "deduplicate": "find_duplicates",
    "extract": "_extract",
    "plan": "plan_write",
    "commit": "commit",
    "index": "_index",
}
HANDED_OVER = (
    *(Checked, Duplicate, Extracted, PlanInput, PlanRules, WritePlan),
    *(PlannedItems, PlannedGraph, PlannedPages, ReceiptKeys, Committed),
)
_MOST_FIELDS = 7
_PACKAGE = Path(vicw_ingest.__file__).parent
_PARTS = ("check", "dedup", "plan", "response", "versions", "knowledge/bridges")


def test_the_stages_run_in_the_order_of_the_docstring() -> None:
    assert pipeline.__doc__ is not None
    assert " → ".join(STAGES) in pipeline.__doc__
    calls = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(pipeline.store_whole_items)))
        if isinstance(node, ast.Call)
    ]
    names = {(call.lineno, call.col_offset): call.func.id for call in calls if isinstance(call.func, ast.Name)}
    stages = set(STAGES.values())
    assert [names[place] for place in sorted(names) if names[place] in stages] == list(STAGES.values())


@pytest.mark.parametrize("kind", HANDED_OVER, ids=lambda kind: kind.__name__)
def test_what_a_stage_hands_over_is_frozen_and_small(kind: type) -> None:
    assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert len(dataclasses.fields(kind)) <= _MOST_FIELDS


def test_no_object_gets_its_parts_after_it_was_made() -> None:
    paths = [path for part in _PARTS for path in (_PACKAGE / part).rglob("*.py")]
    late = [
        f"{path.relative_to(_PACKAGE)}:{node.lineno}"
        for path in (*paths, _PACKAGE / "commit.py", _PACKAGE / "pipeline.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and not (isinstance(target.value, ast.Name) and target.value.id == "self")
    ]
    assert late == []
