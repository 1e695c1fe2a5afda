"""Handling of one request: its limits, deadline and timings, its graph cache, and what answers in degraded mode."""
