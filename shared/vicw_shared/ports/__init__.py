"""What an engine must do, in our own words. One adapter a file under ``adapters``.

Operations only, never query text: no query language serves two engines.
"""

from vicw_shared.ports.archive import GraphArchive, GraphSnapshot
from vicw_shared.ports.audit import MOST_STRAYS, GraphAudit, Link
from vicw_shared.ports.change import ModelChange, Models
from vicw_shared.ports.embedder import NO_MODEL, Embedder, Lane, ModelIdentity
from vicw_shared.ports.erasure import ErasureNote, Erasures
from vicw_shared.ports.graph import GraphStore, ItemRef, Lead, Neighbour, Spread, StoreRecord, TextHit
from vicw_shared.ports.item_views import PassageChange, WholeItem
from vicw_shared.ports.items import ItemIndex
from vicw_shared.ports.keys import KeyRing
from vicw_shared.ports.language import Completion, Finish, LanguageModel, Role, Turn
from vicw_shared.ports.names import By, NameIndex, NameQuery, look_up
from vicw_shared.ports.outbox import Backlog, Failure, Outbox, PendingKind, PendingPoint, Unsettled
from vicw_shared.ports.pending_extractions import UnreadItem, UnreadItems
from vicw_shared.ports.queue import WorkQueue
from vicw_shared.ports.reranker import Reranker
from vicw_shared.ports.scan import (
    Changes,
    EdgeEnds,
    Edges,
    Flow,
    Flows,
    Items,
    NamedThings,
    Nodes,
    Passages,
    Scan,
    Scans,
    Steps,
    Thread,
    scan_pages,
)
from vicw_shared.ports.scope import Audience, Scope
from vicw_shared.ports.sleep import Growth, Outcome, Round, SleepLog, Step
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
    "MOST_STRAYS",
    "NO_MODEL",
    "Audience",
    "Backlog",
    "By",
    "Changes",
    "Completion",
    "Counters",
    "Direction",
    "EdgeEnds",
    "Edges",
    "Embedder",
    "ErasureNote",
    "Erasures",
    "Failure",
    "Finish",
    "Flow",
    "Flows",
    "Gap",
    "GraphArchive",
    "GraphAudit",
    "GraphSnapshot",
    "GraphStore",
    "GraphTransaction",
    "Growth",
    "ItemIndex",
    "ItemRef",
    "Items",
    "KeyRing",
    "Lane",
    "LanguageModel",
    "Lead",
    "Link",
    "Lookups",
    "ModelChange",
    "ModelIdentity",
    "Models",
    "NameIndex",
    "NameQuery",
    "NamedThings",
    "Neighbour",
    "Nodes",
    "Ordering",
    "Outbox",
    "Outcome",
    "PassageChange",
    "Passages",
    "PendingKind",
    "PendingPoint",
    "Point",
    "Puts",
    "Receipt",
    "Receipts",
    "Reranker",
    "Role",
    "Round",
    "Scan",
    "Scans",
    "Scope",
    "ScoreQuery",
    "SleepLog",
    "SparseVector",
    "Spread",
    "Step",
    "Steps",
    "Store",
    "StoreRecord",
    "TextHit",
    "Thread",
    "Turn",
    "UnreadItem",
    "UnreadItems",
    "Unsettled",
    "Use",
    "Uses",
    "VectorHit",
    "VectorQuery",
    "VectorStore",
    "WholeItem",
    "WordIndex",
    "WorkQueue",
    "look_up",
    "scan_pages",
]
