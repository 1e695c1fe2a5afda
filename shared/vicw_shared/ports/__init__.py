"""Ports: the engine-independent interfaces of stores, models and queues. ``adapters`` implements them.

A port has operations only, never query text: no query language serves two engines.
"""

from vicw_shared.ports.archive import GraphArchive, GraphSnapshot
from vicw_shared.ports.audit import MAX_UNEXPECTED, ChainLink, GraphAudit
from vicw_shared.ports.change import ModelChange, Models
from vicw_shared.ports.embedder import NO_MODEL, Embedder, Lane, ModelIdentity
from vicw_shared.ports.erasure import ErasureNote, Erasures
from vicw_shared.ports.graph import GraphStore, ItemRef, Neighbour, Spread, StoreRecord, TextHit, WeightedNeighbour
from vicw_shared.ports.item_views import ItemView, PassageChange
from vicw_shared.ports.items import ItemIndex
from vicw_shared.ports.keys import KeyRing
from vicw_shared.ports.language import Completion, Finish, LanguageModel, Prompt, Role
from vicw_shared.ports.names import By, NameIndex, NameQuery, look_up
from vicw_shared.ports.outbox import Backlog, IndexFailure, Outbox, PendingKind, PendingPoint, UnindexedCounts
from vicw_shared.ports.pending_extractions import PendingExtraction, PendingExtractions
from vicw_shared.ports.queue import WorkQueue
from vicw_shared.ports.reranker import Reranker
from vicw_shared.ports.scan import (
    Changes,
    EdgeEnds,
    Edges,
    Flow,
    Flows,
    Items,
    NamedNodes,
    Nodes,
    Passages,
    Scan,
    Scans,
    Steps,
    Thread,
    scan_pages,
)
from vicw_shared.ports.scope import Audience, Scope
from vicw_shared.ports.sleep import ArrivalCount, JobRun, MaintenanceStep, Outcome, SleepLog
from vicw_shared.ports.store import Store
from vicw_shared.ports.transaction import (
    Counters,
    Direction,
    Gap,
    GraphTransaction,
    Lookups,
    Ordering,
    Puts,
    Receipt,
    Receipts,
)
from vicw_shared.ports.uses import Use, Uses
from vicw_shared.ports.vectors import Point, ScoreQuery, SparseVector, VectorHit, VectorQuery, VectorStore
from vicw_shared.ports.words import WordIndex

__all__ = [
    "MAX_UNEXPECTED",
    "NO_MODEL",
    "ArrivalCount",
    "Audience",
    "Backlog",
    "By",
    "ChainLink",
    "Changes",
    "Completion",
    "Counters",
    "Direction",
    "EdgeEnds",
    "Edges",
    "Embedder",
    "ErasureNote",
    "Erasures",
    "Finish",
    "Flow",
    "Flows",
    "Gap",
    "GraphArchive",
    "GraphAudit",
    "GraphSnapshot",
    "GraphStore",
    "GraphTransaction",
    "IndexFailure",
    "ItemIndex",
    "ItemRef",
    "ItemView",
    "Items",
    "JobRun",
    "KeyRing",
    "Lane",
    "LanguageModel",
    "Lookups",
    "MaintenanceStep",
    "ModelChange",
    "ModelIdentity",
    "Models",
    "NameIndex",
    "NameQuery",
    "NamedNodes",
    "Neighbour",
    "Nodes",
    "Ordering",
    "Outbox",
    "Outcome",
    "PassageChange",
    "Passages",
    "PendingExtraction",
    "PendingExtractions",
    "PendingKind",
    "PendingPoint",
    "Point",
    "Prompt",
    "Puts",
    "Receipt",
    "Receipts",
    "Reranker",
    "Role",
    "Scan",
    "Scans",
    "Scope",
    "ScoreQuery",
    "SleepLog",
    "SparseVector",
    "Spread",
    "Steps",
    "Store",
    "StoreRecord",
    "TextHit",
    "Thread",
    "UnindexedCounts",
    "Use",
    "Uses",
    "VectorHit",
    "VectorQuery",
    "VectorStore",
    "WeightedNeighbour",
    "WordIndex",
    "WorkQueue",
    "look_up",
    "scan_pages",
]
