"""How much of the evidence stands in a text of so many characters."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.clients.sleep_command import without_model
from support.fakes.hash_embedder import HashEmbedder
from support.generators.retrieval_set import TALES, write_set
from support.stores.memory import settings_for
from vicw_bench.fidelity.evidence import measure_evidence, runs_of, share_in
from vicw_bench.fidelity.measure import ensure_filled
from vicw_bench.fidelity.run import Run
from vicw_bench.report import evidence_table, fidelity_json
from vicw_bench.sets import load_set
from vicw_bench.targets import open_local
from vicw_shared.wire.ingest import Extract

ALL_OF_IT = "all of the context"


def quiet(step: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def test_share_in_is_the_fraction_of_evidence_runs_in_a_text() -> None:
    evidence = runs_of("The witch slept in the tower until the bell rang.")  # ten words: six runs
    assert share_in("[1] the WITCH slept, in the tower until ...", evidence) == 3 / 6
    assert share_in("nothing of it", evidence) == 0
    assert share_in("a witch", runs_of("Witch")) == 1, "a short one counts as a whole"
    assert share_in("a switch", runs_of("Witch")) == 0, "by whole words"


@given(st.text(min_size=1))
def test_a_text_contains_all_of_its_own_runs(text: str) -> None:
    runs = runs_of(text)
    assert not runs or share_in(text, runs) == 1


@pytest.mark.parametrize(("budget", "less"), [(8000, False), (30, True)])
async def test_every_way_is_measured_within_the_budget(tmp_path: Path, budget: int, less: bool) -> None:
    data = load_set(write_set(tmp_path / "tales", TALES, domain="prose"))
    settings = settings_for(tmp_path / "unused")
    async with open_local(settings, tmp_path / "store", HashEmbedder()) as target:
        await ensure_filled(target, data, None, quiet)
        report = await measure_evidence(target, data, budget, quiet)
    ways = {way.way: way for way in report.ways}
    assert (report.questions, len(ways)) == (4, 5)
    assert ways[ALL_OF_IT].chars == sum(map(len, TALES))
    assert all(way.chars <= budget for name, way in ways.items() if name != ALL_OF_IT)
    assert (ways["text of the answer"].share < 1) == less
    assert ways["top passages of dense"].share == 1, "the best passage is the evidence"
    assert evidence_table([report]).row_count == len(ways)
    (told,) = fidelity_json({}, [], [], [report])["evidence"]
    assert told["budget"] == budget


async def test_measuring_evidence_fills_an_empty_store_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_model(monkeypatch)
    data = load_set(write_set(tmp_path / "tales", TALES, domain="prose"))
    run = Run(settings_for(tmp_path / "unused"), tmp_path / "stores", Extract.AUTO, None, None)
    await run.evidence([data], 8000, quiet)
    (report,) = run.evidences
    assert {way.way: way.share for way in report.ways}["top passages of dense"] == 1
