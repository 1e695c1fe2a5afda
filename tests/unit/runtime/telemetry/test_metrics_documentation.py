"""The list of metrics is what the code registers, by names that follow the conventions."""

from __future__ import annotations

import re

from support.metrics.documentation import documented, registered

_OF_WHAT_IS_STORED = {"tenant", "context", "id", "uid", "item", "point", "flow", "key", "job", "user"}


def test_documented_metrics_equal_the_registered_metrics() -> None:
    assert sorted(documented()) == sorted(registered())


def test_metric_names_and_labels_follow_the_conventions() -> None:
    for metric in registered():
        assert re.fullmatch(r"vicw(_[a-z0-9]+)+", metric.name)
        assert metric.name.endswith("_total") == (metric.type == "counter")
        assert not re.search(r"_(ms|millis|minutes|hours|kb|mb)(_|$)", metric.name), metric.name
        assert not _OF_WHAT_IS_STORED & set(metric.labels), metric
