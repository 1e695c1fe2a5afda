"""Read cache of the graph: entries stay until a write touches them (decision 0024).

Only this process writes to the file, so it can observe all writes: triggers on the writer's connection record each node
that is changed or removed, and both ends of each edge that is added, changed or removed.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from prometheus_client import Counter

from vicw_shared.model import Node
from vicw_shared.ports import Neighbour, Spread
from vicw_stores.sqlite.hop import HopStep, read_steps
from vicw_stores.sqlite.rows import unpack
from vicw_stores.sqlite.transaction import read_nodes

EDGES_PER_NODE = 3
"""Edges cached per cacheable node: about as many as a spread reads."""
_METADATA_CHARS = 2000
"""Nodes with more metadata are not cached: metadata may be large, and the capacity is counted in nodes."""
READ = Counter("vicw_graph_cache_reads_total", "Nodes, and nodes' edges, that were asked for", ["what", "found"])
_WATCH = """
CREATE TEMP TABLE touched (uid BLOB NOT NULL);
CREATE TEMP TRIGGER node_changed AFTER UPDATE ON main.node BEGIN
    INSERT INTO touched VALUES (NEW.uid);
END;
CREATE TEMP TRIGGER node_went AFTER DELETE ON main.node BEGIN
    INSERT INTO touched VALUES (OLD.uid);
END;
CREATE TEMP TRIGGER edge_came AFTER INSERT ON main.edge BEGIN
    INSERT INTO touched SELECT uid FROM main.node WHERE pk IN (NEW.source, NEW.target);
END;
CREATE TEMP TRIGGER edge_changed AFTER UPDATE ON main.edge BEGIN
    INSERT INTO touched SELECT uid FROM main.node WHERE pk IN (NEW.source, NEW.target);
END;
CREATE TEMP TRIGGER edge_went AFTER DELETE ON main.edge BEGIN
    INSERT INTO touched SELECT uid FROM main.node WHERE pk IN (OLD.source, OLD.target);
END;
"""
_PLACE = itemgetter(0, 1)

type _HopKey = tuple[str, tuple[Spread, ...], int]
"""Cache key of a hop from a node: tenant, spreads, limit."""


class ReadCache:
    """Caches nodes by uid, and the edges read from them. Threads read and store concurrently.

    The oldest entries of both are evicted, no more than needed: evicting thousands at once blocks every request. Data
    is not stored if a write ended since its read began: it may be from before that write.
    """

    def __init__(self, max_nodes: int) -> None:
        """Cache at most ``max_nodes`` nodes; 0 disables the cache."""
        self._max_nodes = max_nodes
        # OrderedDict: in a plain dict, finding the oldest entry scans the slots of all removed ones.
        self._nodes: OrderedDict[str, Node] = OrderedDict()
        self._steps: OrderedDict[str, dict[_HopKey, tuple[HopStep, ...]]] = OrderedDict()
        self._size = 0
        self._writes = 0
        self._lock = threading.Lock()

    def watch(self, connection: sqlite3.Connection) -> None:
        """Record the nodes that the writer's connection touches. Its transactions end with ``commit``."""
        if self._max_nodes:
            connection.executescript(_WATCH)

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit a transaction, then evict the nodes that it touched, before its caller continues."""
        if not self._max_nodes:
            connection.execute("COMMIT")
            return
        touched = [unpack(uid) for (uid,) in connection.execute("SELECT DISTINCT uid FROM touched")]
        connection.execute("DELETE FROM touched")
        connection.execute("COMMIT")
        with self._lock:
            self._writes += 1
            for uid in touched:
                self._nodes.pop(uid, None)
                self._size -= sum(map(_size, self._steps.pop(uid, {}).values()))

    def find_cached(self, tenant: str, uids: Sequence[str]) -> dict[str, Node] | None:
        """Return the nodes of ``uids`` if all are cached, so that no reader thread is needed; else None."""
        nodes = self._cached(tenant, uids)
        if len(nodes) < len(set(uids)):
            return None
        _count("nodes", len(nodes), 0)
        return nodes

    def _cached(self, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        return {uid: node for uid in uids if (node := self._nodes.get(uid)) is not None and node.tenant == tenant}

    def nodes(self, connection: sqlite3.Connection, tenant: str, uids: Sequence[str]) -> dict[str, Node]:
        """Return the tenant's nodes among ``uids``."""
        writes = self._writes
        nodes = self._cached(tenant, uids)
        missing = [uid for uid in dict.fromkeys(uids) if uid not in nodes]
        _count("nodes", len(nodes), len(missing))
        if missing:
            read = read_nodes(connection, tenant, missing)
            self._store(writes, lambda: self._store_nodes(read))
            nodes |= read
        return _in_order(nodes, uids)

    def neighbours(
        self, connection: sqlite3.Connection, tenant: str, uids: Sequence[str], spreads: Sequence[Spread], limit: int
    ) -> list[Neighbour]:
        """Return the neighbours spread by spread, the heaviest edges first in each."""
        steps = self._hop_steps(connection, (tenant, tuple(spreads), limit), list(dict.fromkeys(uids)))
        hops = [(*step[:2], origin, step) for origin, of_origin in steps.items() for step in of_origin]
        hops.sort(key=_PLACE)
        nodes = self.nodes(connection, tenant, list({step.uid for *_, step in hops}))
        return [Neighbour(origin, step.edge, nodes[step.uid]) for _, _, origin, step in hops if step.uid in nodes]

    def _hop_steps(
        self, connection: sqlite3.Connection, key: _HopKey, uids: Sequence[str]
    ) -> Mapping[str, Sequence[HopStep]]:
        writes = self._writes
        result = {uid: steps for uid in uids if (steps := self._steps.get(uid, {}).get(key)) is not None}
        missing = [uid for uid in uids if uid not in result]
        _count("edges", len(result), len(missing))
        if missing:
            tenant, spreads, limit = key
            read = read_steps(connection, tenant, missing, spreads, limit)
            self._store(writes, lambda: self._store_steps(key, read))
            result |= read
        return _in_order(result, uids)

    def _store(self, writes: int, store: Callable[[], None]) -> None:
        with self._lock:
            if self._max_nodes and writes == self._writes:
                store()

    def _store_nodes(self, read: Mapping[str, Node]) -> None:
        self._nodes.update((uid, node) for uid, node in read.items() if _is_small(node))
        while len(self._nodes) > self._max_nodes:
            self._nodes.popitem(last=False)

    def _store_steps(self, key: _HopKey, read: Mapping[str, tuple[HopStep, ...]]) -> None:
        for uid, steps in read.items():
            of_node = self._steps.setdefault(uid, {})
            self._size += _size(steps) if key not in of_node else 0
            of_node[key] = steps
        max_size = EDGES_PER_NODE * self._max_nodes
        while self._size > max_size:
            _, of_node = self._steps.popitem(last=False)
            self._size -= sum(map(_size, of_node.values()))


def _in_order[T](entries: Mapping[str, T], uids: Sequence[str]) -> dict[str, T]:
    """Return the entries in the order of the request: the order must not depend on the cache."""
    return {uid: entries[uid] for uid in uids if uid in entries}


def _is_small(node: Node) -> bool:
    return not node.metadata or len(repr(node.metadata)) <= _METADATA_CHARS


def _size(steps: tuple[HopStep, ...]) -> int:
    return 1 + len(steps)


def _count(what: str, cached: int, read: int) -> None:
    READ.labels(what, "kept").inc(cached)
    READ.labels(what, "read").inc(read)
