from __future__ import annotations

from pathlib import Path

from vicw_ingest.file_import.delivery import ItemDigest, digest_of
from vicw_standalone.file_import.ledger import ImportLedger


def test_the_import_ledger_survives_torn_lines_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger"
    marks = [ItemDigest(digest_of([str(n)]), "a") for n in range(3)]
    with ImportLedger(path) as ledger:
        ledger.add(marks[:2])
        key = ledger.key_of(marks)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"\xff{}\n5\n[5]\n" + path.read_bytes() + b'{"done": ["abc')
    with ImportLedger(path) as ledger:
        assert [ledger.has(mark) for mark in marks] == [True, True, False]
        assert not ledger.has(ItemDigest(marks[0].identity, "b"))
        assert ledger.key_of(marks[2:]) == ledger.key_of(marks[2:])
        ledger.add([marks[2], ItemDigest(marks[0].identity, "b")])
        ledger.finish()
    with ImportLedger(path) as ledger:
        assert [ledger.has(mark) for mark in marks] == [False, True, True]
        assert ledger.key_of(marks) != key
    with ImportLedger(path, again=True) as ledger:
        assert not any(ledger.has(mark) for mark in marks)


def test_an_import_after_a_kill_uses_the_same_idempotency_keys(tmp_path: Path) -> None:
    mark = ItemDigest("i", "c")
    keys = set()
    for _ in range(2):
        with ImportLedger(tmp_path / "l") as ledger:
            keys.add(ledger.key_of([mark]))
    assert len(keys) == 1
