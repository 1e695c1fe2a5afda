"""Stage timers of the write path."""

from __future__ import annotations

from vicw_shared.telemetry.stages import Stages

ingesting = Stages("ingest", "Time of a stage of taking a request in; draft, plan, chain and store are parts of commit")
indexing = Stages("index", "Time of a stage of bringing a batch of points to the vector store")
