"""What the processes tell of themselves: figures for Prometheus (docs/metrics.md), spans for OpenTelemetry.

Nothing is imported here: a worker has to say where its figures go before Prometheus' client is imported.
"""
