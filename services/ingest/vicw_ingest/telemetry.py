"""Metrics and spans of the write path's stages."""

from __future__ import annotations

from vicw_shared.telemetry.stages import Stages

ingesting = Stages(
    "ingest", "Time of a stage of a write request; draft, plan, chain, store and supersede are parts of commit"
)
