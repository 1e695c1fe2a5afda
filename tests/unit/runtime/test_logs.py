"""Lines of the log, as two processes write them into one file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_WRITER = """
import sys
import structlog
from vicw_runtime.logs import configure_logs
from vicw_shared.settings import LogSettings

configure_logs(LogSettings(format="json", level="info"))
log = structlog.get_logger()
for number in range(3000):
    log.info("request", number=number)
"""


def test_log_lines_of_several_processes_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("ab") as log:
        command = [sys.executable, "-u", "-c", _WRITER]
        writers = [subprocess.Popen(command, stderr=log) for _ in range(3)]
        assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["request"] * 9000


_LIBRARY = """
import logging
from vicw_runtime.logs import configure_logs
from vicw_shared.settings import LogSettings

configure_logs(LogSettings(format="json"))
configure_logs(LogSettings(format="json"))
logging.getLogger("neo4j").info("not told")
logging.getLogger("neo4j").warning("tried %s", "again")
logging.getLogger("neo4j.session").warning("Transaction failed and will be retried in %ss (%s)", 0.05, "a deadlock")
"""


def _lines_of_the_library(level: str) -> list[dict[str, str]]:
    program = _LIBRARY.replace('format="json"', f'format="json", level="{level}"')
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_a_librarys_warning_is_logged_as_a_json_line() -> None:
    (line,) = _lines_of_the_library("info")
    assert (line["event"], line["logger"], line["level"]) == ("tried again", "neo4j", "warning")


def test_driver_retries_are_logged_at_debug_level_only() -> None:
    _, line = _lines_of_the_library("debug")
    assert (line["logger"], line["level"]) == ("neo4j.session", "debug")
    assert "a deadlock" in line["event"]
