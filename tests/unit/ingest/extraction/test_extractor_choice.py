"""Which extractor reads the texts is a choice; without one, items are stored and found all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from support.packages.installed import install
from support.stores.memory import Memory, open_memory, settings_for
from vicw_ingest.extraction.extractor import extract
from vicw_ingest.extraction.item_text import ItemText
from vicw_shared.clock import now
from vicw_shared.errors import SettingsError
from vicw_shared.extensions import NOTHING_EXTRACTED
from vicw_shared.model import Label
from vicw_shared.model.extraction import TextExtraction
from vicw_shared.ports import Nodes
from vicw_standalone.doctor.findings import Severity
from vicw_standalone.doctor.service import examine

TEXT = "Mara fixed the build because the disk was full."
CODE = "def build():\n    pass\n"


async def names(memory: Memory, label: Label) -> set[str]:
    return {node.name for node in await memory.standalone.graph.scan(Nodes(label), limit=100)}


async def test_without_an_extractor_items_are_stored_and_found(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VICW_INGEST_EXTRACTOR", "none")
    with capture_logs() as logs:
        async with open_memory(store) as memory:
            items: list[dict[str, Any]] = [{"id": "a", "text": TEXT}, {"id": "b", "text": CODE, "source": "build.py"}]
            await memory.ingest(*items, extract="rules", domain="coding")
            assert "a" in await memory.found("Who fixed the build?")
            assert await names(memory, Label.EVENT) == set(), "no statement"
            entities = await names(memory, Label.ENTITY)
            assert "build" in entities, "code is extracted all the same"
            assert "Mara" not in entities
            assert (await memory.check()).violations == []
    assert [line["log_level"] for line in logs if line["event"] == NOTHING_EXTRACTED] == ["info"]


async def test_the_named_extractor_reads_the_texts(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "from vicw_shared.model import Label\n"
        "from vicw_shared.model.extraction import ExtractedEntity, TextExtraction\n"
        "from vicw_shared.text import Span\n"
        "class Finnish:\n"
        "    def extract(self, sources):\n"
        "        thing = ExtractedEntity('1', 'Sauna', Label.ENTITY, None, 'name', Span(0, 1))\n"
        "        return [TextExtraction(entities=[thing]) for _ in sources]\n"
    )
    install(tmp_path, monkeypatch, module="finnish", body=body, group="vicw.extractors", entry="fi = finnish:Finnish")
    with pytest.raises(SettingsError, match="Several extractors"):
        async with open_memory(store):
            pass
    monkeypatch.setenv("VICW_INGEST_EXTRACTOR", "fi")
    async with open_memory(store) as memory:
        await memory.ingest({"id": "a", "text": TEXT}, extract="rules")
        assert "Sauna" in await names(memory, Label.ENTITY)
        assert "Mara" not in await names(memory, Label.ENTITY)


class Broken:
    """An extractor that raises, or leaves a text out."""

    def extract(self, sources: Sequence[object]) -> list[TextExtraction]:
        if len(sources) == 1:
            raise RuntimeError("no idea")
        return []

    def noun_phrases(self, texts: Sequence[str]) -> list[list[str]]:
        raise NotImplementedError


async def test_a_broken_extractor_costs_the_extraction_alone() -> None:
    sources = [ItemText(text, now(), path=path, may_be_code=True) for text, path in ((TEXT, None), (CODE, "build.py"))]
    prose, code = await extract(sources, Broken())
    assert prose == TextExtraction()
    assert {entity.name for entity in code.entities} == {"build.py", "build"}


@pytest.mark.parametrize(
    ("name", "verdict", "detail"),
    [
        (None, Severity.FINE, "english (vicw_english.extractor:EnglishExtractor)"),
        ("none", Severity.FINE, NOTHING_EXTRACTED),
        ("german", Severity.PROBLEM, "VICW_INGEST_EXTRACTOR is 'german', which is not installed. Installed: english"),
    ],
)
def test_doctor_names_the_extractor(store: Path, name: str | None, verdict: Severity, detail: str) -> None:
    settings = settings_for(store)
    chosen = settings.ingest.model_copy(update={"extractor": name})
    (found,) = [one for one in examine(replace(settings, ingest=chosen)) if one.what == "extractor"]
    assert (found.verdict, found.detail) == (verdict, detail)


def test_doctor_notes_that_no_extractor_is_installed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vicw_shared.extensions.entry_points", lambda group: ())
    (found,) = [one for one in examine(settings_for(store)) if one.what == "extractor"]
    assert (found.verdict, found.detail) == (Severity.NOTE, NOTHING_EXTRACTED)
    assert "Install `vicw` again" in found.fix
