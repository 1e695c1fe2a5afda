"""Schedules of a standalone server in a hurry."""

from __future__ import annotations

from vicw_standalone.wiring import Standalone


def check_schedules_often(standalone: Standalone) -> None:
    """Let a server check its schedules twenty times a second, and run slices without a pause."""
    for schedule in standalone.schedules.values():
        schedule.poll_seconds, schedule.pause_seconds = 0.05, 0.0
