"""Another index beside the one in use, filled while both stores serve, and put in its place (decision 0009)."""

from vicw_ingest.reindexing.change import Reindex, Reindexed, Steps
from vicw_ingest.reindexing.lock import ChangeLock
from vicw_ingest.reindexing.passes import Progress

__all__ = ["ChangeLock", "Progress", "Reindex", "Reindexed", "Steps"]
