"""Metrics and spans on their way out of a process."""
