"""What Prometheus and Grafana are configured with speaks of metrics and services that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from support.metrics.documentation import ROOT, documented, samples

_DEPLOY = ROOT / "deploy"
_OF_PROMETHEUS = {"job", "instance", "le"}
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_MATCHERS = re.compile(r"\{([^}]*)\}")


def dashboard() -> dict[str, Any]:
    made: dict[str, Any] = json.loads((_DEPLOY / "grafana" / "dashboards" / "vicw.json").read_text("utf-8"))
    return made


def expressions() -> Iterator[str]:
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield target["expr"]


def names_in(expression: str) -> set[str]:
    """Return the series that an expression asks for."""
    bare = re.sub(r"\[[^\]]*\]", "", _GROUPED.sub("", _MATCHERS.sub("", expression)))
    return set(re.findall(r"\b[a-zA-Z_]\w*\b(?!\s*\()", bare))


def labels_in(expression: str) -> set[str]:
    matched = {label for group in _MATCHERS.findall(expression) for label in re.findall(r"(\w+)\s*(?:=|!)", group)}
    return matched | {label.strip() for group in _GROUPED.findall(expression) for label in group.split(",")}


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_dashboard_panels_query_only_documented_metrics_and_labels(expression: str) -> None:
    by_series = {series: set(metric.labels) for metric in documented() for series in samples(metric)} | {"up": set()}
    asked = names_in(expression)
    assert asked
    assert asked <= by_series.keys()
    assert labels_in(expression) <= _OF_PROMETHEUS.union(*(by_series[series] for series in asked))


def test_every_metric_is_on_the_dashboard() -> None:
    seen = {name for expression in expressions() for name in names_in(expression)}
    assert [metric.name for metric in documented() if not samples(metric) & seen] == []


def test_dashboard_panels_have_distinct_places_and_a_provisioned_data_source() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
    provisioning = _DEPLOY / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yml").read_text())["datasources"]
    (default,) = [v["current"]["value"] for v in dashboard()["templating"]["list"] if v["type"] == "datasource"]
    assert (source["uid"], source["type"]) == (default, "prometheus")
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "vicw.yml").read_text())["providers"]
    assert provider["type"] == "file"


def test_prometheus_scrapes_every_process_of_the_platform() -> None:
    jobs = yaml.safe_load((_DEPLOY / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    places = {job["job_name"]: job["dns_sd_configs"][0] for job in jobs}
    assert {name: (place["names"], place["port"]) for name, place in places.items()} == {
        "ingest": (["ingest"], 8080),
        "retrieval": (["retrieval"], 8080),
        "embedding": (["embedding"], 8080),
        "ingest-worker": (["ingest-worker"], 9100),
        "extract-worker": (["extract-worker"], 9100),
        "sleep-worker": (["sleep-worker"], 9100),
        "sleep-beat": (["sleep-beat"], 9100),
        "qdrant": (["qdrant"], 6333),
    }
    keyed = {job["job_name"]: job.get("authorization", {}).get("credentials_file") for job in jobs}
    admin = "/run/secrets/vicw_metrics_key"
    assert {name: file for name, file in keyed.items() if file is not None} == {
        "ingest": admin,
        "retrieval": admin,
        "embedding": "/run/secrets/embedding_key",
        "qdrant": "/run/secrets/qdrant_key",
    }
