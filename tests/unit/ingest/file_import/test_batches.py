"""Batches of items: what is said twice is sent once."""

from __future__ import annotations

from vicw_ingest.file_import.batches import batched
from vicw_readers.records import Record, Report, SourceItem
from vicw_shared.wire.ingest import Item


def test_a_mail_in_two_files_is_one_though_its_thread_is_another() -> None:
    def mail(flow: str, step: int, text: str = "Hello") -> Record:
        item = Item(id="<1@ana>", text=text, speaker="ana", flow_id=flow, flow_step=step)
        return SourceItem(context="mail", domain=None, item=item, path="x.mbox")

    reports: list[Report] = []
    records = [mail("first", 0), mail("second", 4), mail("third", 0, "Another text")]
    [batch] = batched(records, reports.append, max_items=10, max_chars=1000)
    assert [one.flow_id for one in batch.items] == ["first"]
    assert len(reports) == 1, "the same id with another text is still ambiguous"
