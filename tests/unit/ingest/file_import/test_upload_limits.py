"""What an upload may take: memory for its report and its items, room on the disk, places, and time."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from threading import Event

import pytest

from vicw_ingest.file_import.places import UploadPlaces
from vicw_ingest.file_import.run import UploadImport
from vicw_ingest.file_import.upload import receive
from vicw_readers.records import Noted, Record, Refused, Skipped, SourceItem
from vicw_shared.errors import LimitExceededError, OverloadedError, StorageFullError
from vicw_shared.settings import ImportSettings
from vicw_shared.wire.ingest import Item

MIB = 2**20


class Told:
    """A reading of records that are there already."""

    titles: Mapping[str, str] = {}

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def records(self) -> Iterator[Record]:
        return iter(self._records)

    def stop(self) -> None: ...

    def close(self) -> None: ...


def counted(records: list[Record], **settings: int) -> UploadImport:
    limits = ImportSettings(**settings)  # type: ignore[arg-type]
    return UploadImport(
        Told(records),
        None,  # type: ignore[arg-type]  # a dry run stores nothing
        Event(),
        root="/x/",
        dry_run=True,
        max_items=100,
        limits=limits,
    )


def item(number: int) -> SourceItem:
    return SourceItem(
        context=f"c{number}", domain=None, item=Item(text=f"Item {number}."), path="a", line=None, reader="items"
    )


def test_a_report_keeps_a_few_of_a_million_bad_lines_and_counts_all() -> None:
    refused: list[Record] = [Refused("a.jsonl", n, "is not JSON", kind="JSON Lines") for n in range(500)]
    passed: list[Record] = [Skipped("a.png", "is a picture", kind="picture")] * 300
    noted: list[Record] = [Noted("a.txt", None, "was read as latin-1")] * 200
    run = counted([*refused, *passed, *noted, *map(item, range(30))], listed=5)
    assert run.carry_out()
    summary = run._run.summary  # what is held, not what is answered of it
    assert [len(kept) for kept in (summary.refused, summary.passed_over, summary.notes)] == [5, 5, 5]
    report = run.report()
    assert [len(kept) for kept in (report.refused, report.passed_over, report.noted, report.contexts)] == [5] * 4
    kinds = (report.refused_kinds, report.passed_over_kinds, report.noted_kinds)
    assert kinds == ({"JSON Lines": 500}, {"picture": 300}, {"other": 200})
    brief = run.report(brief=True)
    assert (brief.refused, brief.contexts, brief.refused_kinds) == ((), {}, {"JSON Lines": 500})


def test_an_upload_with_more_items_than_may_be_remembered_fails_and_names_the_limit() -> None:
    assert counted([item(n) for n in range(3)], items=3).carry_out()
    with pytest.raises(LimitExceededError, match="VICW_IMPORT_ITEMS"):
        counted([item(n) for n in range(4)], items=3).carry_out()


async def _body(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it has no disk that is always full")
async def test_a_full_disk_is_told_as_such_even_if_bytes_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.open
    monkeypatch.setattr(os, "open", lambda *_: really("/dev/full", os.O_WRONLY))
    start = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    for chunks in ((start + bytes(100) + b"\r\n--cut--\r\n",), (start + bytes(100), bytes(2**20), bytes(100))):
        with pytest.raises(StorageFullError, match="full"):
            await receive(
                _body(*chunks), "multipart/form-data; boundary=cut", tmp_path, ImportSettings(), lambda size: None
            )


def _full_after(calls: int) -> Callable[[], None]:
    left = iter(range(calls))

    def require_room() -> None:
        if next(left, None) is None:
            raise StorageFullError("the disk is nearly full")

    return require_room


async def test_an_upload_leaves_the_room_that_the_store_needs(tmp_path: Path) -> None:
    with pytest.raises(StorageFullError):
        async with UploadPlaces(ImportSettings(), tmp_path, _full_after(0)).place("a"):
            pass
    places, taken = UploadPlaces(ImportSettings(), tmp_path, _full_after(3)), 0
    with pytest.raises(StorageFullError):
        async with places.place("a") as place:
            for _ in range(1000):
                places.take(place, MIB)
                taken += 1
    assert 2 < taken < 20, "it is asked for again while the upload arrives"
    await places.close()


async def test_a_declared_size_is_refused_before_the_body(tmp_path: Path) -> None:
    places = UploadPlaces(ImportSettings(upload_mb=4, total_mb=6), tmp_path, lambda: None)
    with pytest.raises(LimitExceededError, match="VICW_IMPORT_UPLOAD_MB"):
        async with places.place("a", 5 * MIB):
            pass
    async with places.place("a", 4 * MIB) as place:
        places.take(place, 4 * MIB)
        with pytest.raises(OverloadedError, match="VICW_IMPORT_TOTAL_MB"):
            async with places.place("a", 3 * MIB):
                pass
    async with places.place("a", 4 * MIB):
        pass
    await places.close()


async def test_a_tenant_may_be_kept_from_taking_all_places_and_learns_nothing_of_others(tmp_path: Path) -> None:
    places = UploadPlaces(ImportSettings(jobs=2, tenant_jobs=1), tmp_path, lambda: None)
    async with places.place("a"):
        with pytest.raises(OverloadedError, match="VICW_IMPORT_TENANT_JOBS"):
            async with places.place("a"):
                pass
        async with places.place("b"):
            with pytest.raises(OverloadedError) as refused:
                async with places.place("c"):
                    pass
    assert not any(letter.isdigit() for letter in str(refused.value))
    await places.close()
