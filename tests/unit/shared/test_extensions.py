from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from support.packages.installed import install
from vicw_shared.errors import SettingsError
from vicw_shared.extensions import find_extractor, load_extractor, load_registries
from vicw_shared.former_modules import MOVED
from vicw_shared.model import Label

PACKAGE = "vicw_shared"
"""The package that an extension imported everything from."""


def install_extension(folder: Path, patch: pytest.MonkeyPatch, body: str) -> None:
    install(
        folder, patch, module="todo_memory", body=body, group="vicw.extensions", entry="todo = todo_memory:register"
    )


def install_extractor(folder: Path, patch: pytest.MonkeyPatch, body: str = "class Finnish:\n    pass\n") -> None:
    install(folder, patch, module="finnish", body=body, group="vicw.extractors", entry="finnish = finnish:Finnish")


def test_an_installed_package_registers_types_and_collections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_extension(
        tmp_path,
        monkeypatch,
        "from vicw_shared.model import Category, EdgeType, Label, NodeCollection\n"
        "def register(edges, collections):\n"
        "    pair = frozenset({(Label.ENTITY, Label.ENTITY)})\n"
        "    edges.register(EdgeType('TODO_OWNED_BY', Category.AGENCY, pair, 0.5))\n"
        "    collections.register(NodeCollection('todos', Label.ENTITY, 'todo'))\n",
    )
    registries = load_registries()
    assert registries.edges.check("TODO_OWNED_BY", Label.ENTITY, Label.ENTITY).weight == 0.5
    assert registries.collections.of(Label.ENTITY, "todo").name == "todos"


def test_a_broken_extension_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_extension(tmp_path, monkeypatch, "def register(edges, collections):\n    raise ValueError('no licence')\n")
    with pytest.raises(SettingsError, match=r"'todo' \(todo_memory:register\).*no licence"):
        load_registries()


@pytest.mark.parametrize(
    "body",
    [
        f"from {PACKAGE}.language.tagger import TAGS\n",
        f"from {PACKAGE}.language import tagger\n",
        f"from {PACKAGE} import language\n",
        f"import {PACKAGE}.language.tagger\n",
        f"def register(edges, collections):\n    import {PACKAGE}.language.tagger\n",
    ],
)
def test_an_extension_that_imports_a_moved_module_is_told_its_new_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    install_extension(tmp_path, monkeypatch, body)
    moved = rf"'todo' \(todo_memory:.*{PACKAGE}\.language is now vicw_core\.language and vicw_english\.tagging"
    with pytest.raises(SettingsError, match=moved):
        load_registries()


@pytest.mark.parametrize("body", ["import vicw_shared.no_such\n", "import no_such\n", "from vicw_shared import x\n"])
def test_an_import_that_never_worked_has_no_new_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    install_extension(tmp_path, monkeypatch, body)
    with pytest.raises(SettingsError, match="'todo'") as raised:
        load_registries()
    assert "is now" not in str(raised.value)


FORMER_MODULES = """
    adapters archive background background_throttle canonical chains clock consolidation decay domains dreams
    edge_factory embedding_models errors exit_codes extensions fingerprints heading_anchors http identity index_diff
    indexes job_runs language liveness logs model platform points ports progress settings sparse telemetry
    telemetry.engines telemetry.serving telemetry.shared_metrics telemetry.spans telemetry.stages telemetry.tracing text
    throttled_indexes tokens uids undo untrusted_text wire wrapper
""".split()
"""The modules of the package when it was one, with those of packages that are left."""


def exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize(("former", "places"), MOVED.items())
def test_moved_modules_are_gone_and_their_new_places_exist(former: str, places: tuple[str, ...]) -> None:
    assert not exists(f"{PACKAGE}.{former}")
    assert [place for place in places if not exists(place)] == []


@pytest.mark.parametrize("former", FORMER_MODULES)
def test_each_module_of_the_undivided_package_is_there_or_has_a_new_place(former: str) -> None:
    assert exists(f"{PACKAGE}.{former}") or former in MOVED


def test_the_only_installed_extractor_is_found_without_a_name() -> None:
    entry = find_extractor(None)
    assert entry is not None
    assert (entry.name, entry.value) == ("english", "vicw_english.extractor:EnglishExtractor")
    assert load_extractor("none") is None


def test_several_installed_extractors_need_the_name_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_extractor(tmp_path, monkeypatch)
    with pytest.raises(SettingsError, match=r"\(english, finnish\)\. Set VICW_INGEST_EXTRACTOR to one of them"):
        load_extractor(None)
    assert type(load_extractor("finnish")).__name__ == "Finnish"
    assert load_extractor("none") is None


def test_a_name_of_no_installed_extractor_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"VICW_INGEST_EXTRACTOR is 'finish', .* Installed: english"):
        load_extractor("finish")


def test_a_broken_extractor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_extractor(tmp_path, monkeypatch, f"import {PACKAGE}.language.tokens\n")
    with pytest.raises(SettingsError, match=r"extractor 'finnish' \(finnish:Finnish\).*is now vicw_core"):
        load_extractor("finnish")
