"""Handling of one request: limits, deadline, timings, question vector, graph cache, and answers in degraded mode."""
