"""``python -m support.processes.retrieval_local_qdrant``: the retrieval service over qdrant-client's local mode."""

from __future__ import annotations

import sys

import support.processes.celery_local_qdrant  # noqa: F401 - has the wiring connect to the local mode
from vicw_retrieval.__main__ import build
from vicw_runtime.http.serve import run_service

if __name__ == "__main__":
    sys.exit(run_service(build, name="retrieval"))
