"""Each model's index has a folder of its own, and none is taken for another's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from vicw_shared.errors import DataDirError
from vicw_shared.ports import ModelIdentity, Point
from vicw_shared.uids import make_uid
from vicw_stores.data_dir import DataDir
from vicw_stores.edge import EdgeVectorStore
from vicw_stores.edge.folders import folder_of, noted_in, open_folder, others

PAYLOAD = {"tenant": "t", "label": "Chunk"}
A, B = ModelIdentity("a", 4, "0" * 64, 1), ModelIdentity("b", 4, "1" * 64, 1)


async def make(folder: Path, model: ModelIdentity) -> None:
    await open_folder(folder, model, anew=True).close()


async def test_the_first_model_keeps_the_folder_vectors(tmp_path: Path) -> None:
    first = tmp_path / "vectors"
    assert folder_of(tmp_path, A, A) == first, "also before there is one"
    await make(first, A)
    assert (folder_of(tmp_path, A, A), folder_of(tmp_path, A, B)) == (first, first)
    of_b = folder_of(tmp_path, B, A)
    assert of_b.name == f"vectors-{B.key}"
    await make(of_b, B)
    assert (folder_of(tmp_path, B, B), noted_in(of_b)) == (of_b, B)
    assert (others(tmp_path, {of_b}), others(tmp_path, ())) == ([first], [first, of_b])


async def test_an_unmarked_folder_belongs_to_the_model_in_use(tmp_path: Path) -> None:
    first = tmp_path / "vectors"
    await EdgeVectorStore(first, A.size).close()
    assert noted_in(first) is None
    assert folder_of(tmp_path, A, A) == first
    assert folder_of(tmp_path, B, A) != first


async def test_a_second_models_folder_is_found_after_the_first_is_dropped(tmp_path: Path) -> None:
    await make(tmp_path / "vectors", A)
    of_b = folder_of(tmp_path, B, A)
    await make(of_b, B)
    EdgeVectorStore.destroy(tmp_path / "vectors")
    assert folder_of(tmp_path, B, B) == of_b
    assert folder_of(tmp_path, A, B).name == f"vectors-{A.key}"


async def test_a_broken_vector_folder_is_recreated_only_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    store = open_folder(folder, A, anew=True)
    await store.upsert([Point(make_uid("p"), np.eye(A.size, dtype=np.float32)[0], None, PAYLOAD)])
    await store.close()
    (folder / "passages" / "edge_config.json").write_text("not json")
    with pytest.raises(DataDirError, match="vicw reindex"):
        open_folder(folder, A, anew=False)
    await make(folder, A)


def test_a_data_directory_in_use_shows_the_address_of_its_server(tmp_path: Path) -> None:
    path = tmp_path / "data"
    assert DataDir.read_address(path) is None
    with DataDir(path) as data_dir:
        assert DataDir.read_address(path) is None, "it does not answer yet"
        data_dir.record_address("http://127.0.0.1:8080")
        assert DataDir.read_address(path) == "http://127.0.0.1:8080"
        server = DataDir.read_server(path)
        assert server is not None
        assert (server.token, len(data_dir.owner_token) > 40) == (data_dir.owner_token, True)
        assert data_dir.owner_token not in repr(server)
        assert (path / "vicw.lock").stat().st_mode & 0o777 == 0o600
        assert DataDir(path).owner_token != data_dir.owner_token, "each process has its own"
        with pytest.raises(DataDirError, match=r"pid \d+\)"):
            DataDir(path).open()
    assert DataDir.read_address(path) is None, "it has ended"
