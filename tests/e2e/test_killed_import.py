"""A server is killed while it imports an upload: what it says of the job afterwards, and what is stored in the end."""

from __future__ import annotations

import json

import pytest

from e2e.conftest import Serve
from support.processes.server import eventually
from vicw_client import VicwClient

pytestmark = pytest.mark.process
ITEMS = 2500


def test_a_killed_import_is_interrupted_and_the_same_upload_stores_nothing_twice(serve: Serve) -> None:
    server = serve(VICW_EMBEDDER="none")
    server.start()
    lines = "".join(json.dumps({"text": f"Entry {number} of the log of the ferry."}) + "\n" for number in range(ITEMS))
    log = server.data_dir.parent / "log.jsonl"
    log.write_text(lines, "utf-8")
    with VicwClient(server.url) as client:
        begun = client.import_files([log])
        eventually(lambda: client.stats().items, lambda items: items > 0, 60, "some of it is stored")
        server.kill()
    server.start()
    with VicwClient(server.url) as client:
        after = client.import_job(begun.job)
        assert (after.status, after.is_over) == ("interrupted", True)
        assert after.report.created < ITEMS
        assert not list((server.data_dir / "imports").glob("*/*/files")), "its files went at the next start"
        again = client.wait_for_import(client.import_files([log]))
        assert again.status == "done"
        assert again.report.unchanged > 0
        assert client.stats().items == ITEMS
    assert server.stop() == 0
