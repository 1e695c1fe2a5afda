"""Telemetry of the processes: metrics for Prometheus (docs/metrics.md), spans for OpenTelemetry.

This module has no imports: a worker has to set the metrics directory before Prometheus' client is imported.
"""
