"""The metrics of the one-process server, its embedding process's among them."""

from __future__ import annotations

from collections import Counter

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.api.problems import post

pytestmark = pytest.mark.process


def test_metrics_include_the_embedding_process_without_duplicates(http: httpx.Client) -> None:
    assert post(http, "/retrieve", {"query": "who is counting?", "domain": "general"}).status_code == 200
    families = list(text_string_to_metric_families(http.get("/metrics").raise_for_status().text))
    assert [name for name, count in Counter(family.name for family in families).items() if count > 1] == []
    series = {(sample.name, *sorted(sample.labels.values())): sample.value for f in families for sample in f.samples}
    assert series["vicw_embedding_texts_total", "query"] >= 1
    assert series["vicw_http_requests_total", "/retrieve", "200", "POST"] >= 1
    assert series["vicw_engine_seconds_count", "edge", "search"] >= 1
    assert ("vicw_http_requests_total", "/v1/embeddings", "200", "POST") not in series
