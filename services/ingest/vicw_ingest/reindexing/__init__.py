"""Another index beside the one in use, filled while both stores serve, and put in its place (decision 0009)."""

from vicw_ingest.reindexing.change import Reindex, Reindexed, Steps
from vicw_ingest.reindexing.lock import ChangeLock

__all__ = ["ChangeLock", "Reindex", "Reindexed", "Steps"]
