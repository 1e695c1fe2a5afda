"""Each model's index has a folder of its own, and none is taken for another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from vicw_shared.adapters.data_dir import DataDir
from vicw_shared.adapters.edge import EdgeVectorStore
from vicw_shared.errors import DataDirError
from vicw_shared.ports import ModelIdentity
from vicw_standalone.vector_folders import folder_of, noted_in, open_folder, others

A, B = ModelIdentity("a", 4, "0" * 64, 1), ModelIdentity("b", 4, "1" * 64, 1)


async def make(folder: Path, model: ModelIdentity) -> None:
    await open_folder(folder, model, anew=True).close()


async def test_the_first_folder_stays_the_first_models(tmp_path: Path) -> None:
    first = tmp_path / "vectors"
    assert folder_of(tmp_path, A, A) == first, "also before there is one"
    await make(first, A)
    assert (folder_of(tmp_path, A, A), folder_of(tmp_path, A, B)) == (first, first)
    of_b = folder_of(tmp_path, B, A)
    assert of_b.name == f"vectors-{B.key}"
    await make(of_b, B)
    assert (folder_of(tmp_path, B, B), noted_in(of_b)) == (of_b, B)
    assert (others(tmp_path, {of_b}), others(tmp_path, ())) == ([first], [first, of_b])


async def test_a_folder_of_an_earlier_version_is_that_of_the_model_in_use(tmp_path: Path) -> None:
    first = tmp_path / "vectors"
    await EdgeVectorStore(first, A.size).close()
    assert noted_in(first) is None
    assert folder_of(tmp_path, A, A) == first
    assert folder_of(tmp_path, B, A) != first


async def test_when_the_first_is_dropped_the_other_is_found_still(tmp_path: Path) -> None:
    await make(tmp_path / "vectors", A)
    of_b = folder_of(tmp_path, B, A)
    await make(of_b, B)
    EdgeVectorStore.destroy(tmp_path / "vectors")
    assert folder_of(tmp_path, B, B) == of_b
    assert folder_of(tmp_path, A, B).name == f"vectors-{A.key}"


async def test_what_cannot_be_opened_is_made_anew_only_when_told(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    await make(folder, A)
    (folder / "passages" / "edge_config.json").write_text("not json")
    with pytest.raises(DataDirError, match="vicw reindex"):
        open_folder(folder, A, anew=False)
    await make(folder, A)


def test_whoever_finds_a_directory_in_use_learns_where_its_server_answers(tmp_path: Path) -> None:
    path = tmp_path / "data"
    assert DataDir.read_address(path) is None
    with DataDir(path) as data_dir:
        assert DataDir.read_address(path) is None, "it does not answer yet"
        data_dir.record_address("http://127.0.0.1:8080")
        assert DataDir.read_address(path) == "http://127.0.0.1:8080"
        with pytest.raises(DataDirError, match=r"pid \d+\)"):
            DataDir(path).open()
    assert DataDir.read_address(path) is None, "it has ended"
