"""The search for what was erased reads files that the process has open as a store."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from vicw_ingest.erasure.files import search_copy, search_store
from vicw_ingest.erasure.fingerprints import Fingerprints
from vicw_ingest.erasure.residue_scan import Residue

WORDS = "Quirin Zeltner keeps the vermilion lockbox under the third stair."
ANOTHER = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
print(store.execute("SELECT * FROM said").fetchall())
store.close()
"""


def residue_of(text: str) -> Residue:
    made = Fingerprints(7)
    made.add_text(text)
    return Residue.of(made)


def test_a_search_leaves_the_store_its_locks(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.executescript("PRAGMA journal_mode = WAL; CREATE TABLE said (text)")
        store.execute("INSERT INTO said VALUES (?)", (WORDS,))
        log = path.with_name("graph.sqlite3-wal")
        size = log.stat().st_size
        residue = residue_of(WORDS)
        for _ in range(2):
            search_store(tmp_path, residue)
        assert residue.residual_places() == [str(log)]
        # Who finds no locks is the last to close the store, and removes its log.
        other = subprocess.run([sys.executable, "-c", ANOTHER, str(path)], capture_output=True, text=True, check=True)
        assert WORDS in other.stdout
        assert log.exists(), "the log of an open store was removed"
        assert log.stat().st_size == size
        store.execute("INSERT INTO said VALUES ('more')")
        assert store.execute("SELECT count(*) FROM said").fetchone() == (2,)


def test_a_file_that_grows_or_is_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "graph.sqlite3"
    path.write_bytes(b"x" * 100)
    search_store(tmp_path, residue_of(WORDS))
    with path.open("ab") as file:
        file.write(WORDS.encode())
    grown, replaced = residue_of(WORDS), residue_of("The third stair of the observatory is loose again.")
    search_store(tmp_path, grown)
    assert grown.residual_places() == [str(path)]
    other = tmp_path / "new"
    other.write_text("The third stair of the observatory is loose again.")
    other.replace(path)
    search_store(tmp_path, replaced)
    assert replaced.residual_places() == [str(path)]


def test_copies_keep_no_descriptor_open(tmp_path: Path) -> None:
    def opened() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = opened()
    for number in range(5):
        copy = tmp_path / f"copy{number}"
        copy.mkdir()
        (copy / "graph.sqlite3").write_text(WORDS)
        residue = residue_of(WORDS)
        search_copy(copy, residue)
        assert residue.residual_places() == [str(copy)]
    assert opened() == before
