"""The files of a worker's figures: few, however many of its processes come and go, and gone when it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.servers.machine import free_port

PROGRAM = """
import os, sys
from vicw_runtime.telemetry.shared_metrics import DIRECTORY, share_metrics
share_metrics()
from prometheus_client import Counter, Gauge, Histogram
from vicw_shared.settings import MetricsSettings, ServerSettings
from vicw_runtime.telemetry.serving import serve_metrics
counter, gauge = Counter("c", "", ["of"]), Gauge("g", "", multiprocess_mode="livemostrecent")
histogram = Histogram("h", "", buckets=(1, 2))
let_go = serve_metrics(MetricsSettings(), ServerSettings())
print(os.environ[DIRECTORY], flush=True)
"""
GENERATIONS = """
for generation in range(30):
    pid = os.fork()
    if not pid:
        let_go()
        counter.labels("a").inc(2)
        gauge.set(1)
        histogram.observe(generation % 3)
        os._exit(0)
    os.waitpid(pid, 0)
print(len(os.listdir(os.environ[DIRECTORY])), flush=True)
"""
SCRAPE = """
import json, urllib.request
text = urllib.request.urlopen(f"http://127.0.0.1:{os.environ['VICW_METRICS_PORT']}/metrics").read().decode()
print(json.dumps([line for line in text.splitlines() if line[0] in "cgh"]))
"""


def run(program: str, directory: Path, port: int) -> list[str]:
    environment = os.environ | {"TMPDIR": str(directory), "VICW_METRICS_PORT": str(port)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.splitlines()


@pytest.fixture
def port() -> int:
    return free_port()


def test_metrics_of_ended_processes_are_kept_in_few_files(tmp_path: Path, port: int) -> None:
    _, before, told = run(PROGRAM + GENERATIONS + SCRAPE, tmp_path, port)
    assert int(before) < 12, "nobody has asked yet"
    assert set(json.loads(told)) == {
        'c_total{of="a"} 60.0',
        "h_sum 30.0",
        'h_bucket{le="1.0"} 20.0',
        'h_bucket{le="2.0"} 30.0',
        'h_bucket{le="+Inf"} 30.0',
        "h_count 30.0",
    }
    assert list(tmp_path.glob("vicw-metrics-*")) == []


def test_metric_files_of_a_killed_worker_are_removed_by_the_next(tmp_path: Path, port: int) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "VICW_METRICS_PORT": str(port)}
    command = [sys.executable, "-c", PROGRAM + "sys.stdin.read()"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        directory = Path(first.stdout.readline().strip())
        assert run(
            PROGRAM.replace("let_go = serve_metrics(MetricsSettings(), ServerSettings())", ""), tmp_path, port
        ) != [str(directory)]
        assert directory.exists(), "it is in use"
        first.send_signal(signal.SIGKILL)
    assert directory.exists()
    run(PROGRAM, tmp_path, port)
    assert not directory.exists()
