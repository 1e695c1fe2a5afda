"""scripts/compare_builds.py: the builds take turns, and the table has medians and ratios."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

_SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare_builds.py"


@pytest.fixture(scope="module")
def compare_builds() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compare_builds", _SCRIPT)
    assert spec is not None and spec.loader is not None
    sys.path.insert(0, str(_SCRIPT.parent))  # as Python does for a script, which may import its neighbours
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(_SCRIPT.parent))
    return module


def test_the_table_has_medians_and_ratios(compare_builds: ModuleType) -> None:
    rounds = [({"s": 8.0}, {"s": 2.0, "new": 1.0}), ({"s": 9.0}, {"s": 3.0}), ({"s": 100.0}, {"s": 3.0})]
    assert compare_builds.table(rounds).splitlines()[2:] == ["| s | 9 | 3 | 0.33 |", "| new | – | 1 | – |"]


def test_the_builds_take_turns(compare_builds: ModuleType, tmp_path: Path) -> None:
    before, now = (compare_builds.Build(tmp_path / name, {}) for name in ("before", "now"))
    order: list[str] = []

    def measure(build: object) -> dict[str, float]:
        order.append("before" if build is before else "now")
        return {"place": float(len(order))}

    pairs = list(compare_builds.in_turns(measure, before, now, 3))
    assert order == ["before", "now", "now", "before", "before", "now"]
    assert [pair[0]["place"] < pair[1]["place"] for pair in pairs] == [True, False, True], "each pair: before, now"


def test_an_unknown_measure_is_named(
    compare_builds: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["compare_builds.py", "--before", "HEAD", "--only", "start,speed"])
    with pytest.raises(SystemExit):
        compare_builds.main()
    assert "speed is none of start, memory, ingest, checkout, fidelity, questions" in capsys.readouterr().err


def test_questions_are_chosen_evenly_and_carry_what_a_set_says(compare_builds: ModuleType, tmp_path: Path) -> None:
    lines = [f'{{"id": "q{n}", "query": "question {n}", "context": "c", "relevant": ["i"]}}' for n in range(250)]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines), "utf-8")
    bodies = compare_builds._questions(tmp_path)
    assert len(bodies) == compare_builds.QUESTIONS
    assert bodies[1] == b'{"query": "question 2", "context": "c"}'
