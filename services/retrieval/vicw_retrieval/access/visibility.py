"""Visibility filter for graph traversal. Access is decided from edges, never from aggregate counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from vicw_retrieval.access.item_filter import passing_filter
from vicw_retrieval.access.scope import holds_in_scope, is_named, may_see
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import SOURCE_ITEM, EdgeRegistry
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread
from vicw_shared.text import fold_case

_WITHOUT_SOURCE = frozenset({"BELONGS_TO", "MERGED_INTO"})
"""Edges without a source item: an entity with no other edges is not known."""


_MAX_SUBJECTS = 1000


_READ_FACTOR = 10
"""Factor on read limits for a viewer: invisible nodes take no places."""


_FIRST_LIMIT = 20


_LIMIT_FACTOR = 8


MAX_READ = 1000
"""Maximum edges read per node and spread to find the visible ones."""


type Keep = Callable[[Sequence[Neighbour]], Awaitable[list[Neighbour]]]
"""Filter that removes neighbours that are invisible or not to be followed."""


Place = tuple[str, str, Direction]
"""A node's uid and a spread from it."""


class Visibility:
    """Visibility for one scope. ``ignore_validity``: includes what is no longer true or no longer believed.

    ``most_edges`` bounds each further read that looks for visible edges among many invisible ones.
    """

    def __init__(
        self, graph: GraphStore, scope: Scope, *, ignore_validity: bool = False, most_edges: int | None = None
    ) -> None:
        self._graph = graph
        self.scope = scope
        self._ignore_validity = ignore_validity
        self._most_edges = most_edges
        self._source_items: dict[str, Node] = {}

    async def visible(self, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """Keep neighbours whose node, and whose edge's source item if any, are visible."""
        sources = {
            n.edge.id: str(n.edge.properties[SOURCE_ITEM]) for n in neighbours if SOURCE_ITEM in n.edge.properties
        }
        source_items = await self.source_items(n.edge for n in neighbours)
        seen = await self._seen([*(n.node for n in neighbours), *source_items.values()])
        return [
            n for n in neighbours if n.node.uid in seen and (n.edge.id not in sources or sources[n.edge.id] in seen)
        ]

    def read_limit(self, limit: int) -> int:
        """Return the number of entries to read for ``limit`` results when invisible ones are removed after the read."""
        return limit if self.scope.audience is None else limit * _READ_FACTOR

    async def expand(self, uids: Sequence[str], spreads: Sequence[Spread], fanout: int) -> list[Neighbour]:
        """Return, per node and spread, the neighbours along the ``fanout`` heaviest visible edges.

        Invisible edges take no places, so a missing result does not reveal them.
        """
        return at_most(await self.heaviest(uids, spreads, fanout, self.visible), fanout)

    async def heaviest(
        self, uids: Sequence[str], spreads: Sequence[Spread], fanout: int, keep: Keep, *, ties: bool = False
    ) -> list[Neighbour]:
        """Return at least the ``fanout`` heaviest edges of each spread and node that ``keep`` lets pass.

        With ``ties`` also those of the same weight as the last: the order of equal weights differs between stores.
        """
        limit = min(fanout, MAX_READ)
        neighbours = await self._graph.expand(self.scope.tenant, uids, spreads, limit) if uids else []
        seen = await keep(neighbours)
        short = _short(neighbours, seen, limit, fanout, ties=ties)
        while short and (wider_limit := self._wider(limit, MAX_READ, len(short))) > limit:
            limit = wider_limit
            along = list(dict.fromkeys((kind, direction) for _, kind, direction in short))
            origins = list(dict.fromkeys(uid for uid, _, _ in short))
            wider = [
                one
                for one in await self._graph.expand(self.scope.tenant, origins, along, limit)
                if spread_of(one) in short
            ]
            again = await keep(wider)
            seen = [*(one for one in seen if spread_of(one) not in short), *again]
            short = _short(wider, again, limit, fanout, ties=ties)
        return seen

    def _wider(self, limit: int, most: int, places: int) -> int:
        """Return the limit of the next read of so many places: no more than ``limit`` ends the search."""
        room = most if self._most_edges is None else min(most, self._most_edges // places)
        return min(limit * _LIMIT_FACTOR, room)

    async def source_items(self, edges: Iterable[Edge]) -> dict[str, Node]:
        """Return the source items of these edges by uid, visible or not."""
        source_uids = {str(edge.properties[SOURCE_ITEM]) for edge in edges if SOURCE_ITEM in edge.properties}
        missing = sorted(source_uids - self._source_items.keys())
        self._source_items |= await self._graph.nodes(self.scope.tenant, missing) if missing else {}
        return {uid: self._source_items[uid] for uid in source_uids if uid in self._source_items}

    async def nodes(self, nodes: Sequence[Node]) -> list[Node]:
        """Keep the visible nodes."""
        seen = await self._seen(nodes)
        return [node for node in nodes if node.uid in seen]

    async def known(self, named: Sequence[Node], spreads: Sequence[Spread], *, most: int = MAX_READ) -> list[Node]:
        """Keep the named nodes known to the viewer: those revealed by a visible edge.

        At most ``most`` edges per node and spread are read. Without a viewer, all nodes are known.
        """
        if self.scope.audience is None or not named:
            return list(named)
        known_uids: set[str] = set()
        undecided, limit = [node.uid for node in named], min(_FIRST_LIMIT, most)
        while undecided:
            neighbours = await self._graph.expand(self.scope.tenant, undecided, spreads, limit)
            known_uids |= {n.origin for n in await self.visible(neighbours) if reveals_entity(n)}
            full = {origin for (origin, _, _), count in counted(neighbours).items() if count >= limit}
            undecided = [uid for uid in undecided if uid in full - known_uids]
            if not undecided or (wider_limit := self._wider(limit, most, len(undecided))) <= limit:
                break
            limit = wider_limit
        return [node for node in named if node.uid in known_uids]

    async def _seen(self, nodes: Iterable[Node]) -> set[str]:
        nodes = list(nodes)
        about = await self._subjects(nodes)
        return {
            n.uid for n in nodes if may_see(self.scope, n, about.get(n.uid, ()), ignore_validity=self._ignore_validity)
        }

    async def _subjects(self, nodes: Iterable[Node]) -> dict[str, set[str]]:
        """Return the subjects of private nodes as names and uids, read from edges, only where they decide access."""
        private = {node.uid for node in nodes if self.scope.audience is not None and node.sensitivity != "public"}
        subjects: dict[str, set[str]] = {uid: set() for uid in private}
        if private:
            spreads = [("ABOUT", Direction.OUT)]
            for edge in await self._graph.expand(self.scope.tenant, sorted(private), spreads, _MAX_SUBJECTS):
                subjects[edge.origin] |= {*map(fold_case, (edge.node.name, *edge.node.aliases)), edge.node.uid}
        return subjects


def _short(
    neighbours: Sequence[Neighbour], seen: Sequence[Neighbour], limit: int, fanout: int, *, ties: bool
) -> set[Place]:
    """Return the spreads that may have more edges than the ``limit`` read and still need them."""
    weights: dict[Place, list[float]] = defaultdict(list)
    for neighbour in seen:
        weights[spread_of(neighbour)].append(neighbour.edge.weight)
    lightest = {spread_of(neighbour): neighbour.edge.weight for neighbour in neighbours}  # the last is the lightest

    def lacks(place: Place) -> bool:
        heaviest = weights[place]
        return len(heaviest) < fanout or (ties and lightest[place] >= sorted(heaviest, reverse=True)[fanout - 1])

    return {place for place, count in counted(neighbours).items() if count >= limit and lacks(place)}


def at_most(neighbours: Sequence[Neighbour], fanout: int) -> list[Neighbour]:
    """Return the first edges of each spread, in their order."""
    counts: dict[Place, int] = {}
    kept = []
    for neighbour in neighbours:
        place = spread_of(neighbour)
        counts[place] = counts.get(place, 0) + 1
        if counts[place] <= fanout:
            kept.append(neighbour)
    return kept


def known_by(registry: EdgeRegistry) -> list[Spread]:
    """Return the spreads along which a named node becomes known to a viewer."""
    types = [edge_type.name for edge_type in registry if edge_type.name not in _WITHOUT_SOURCE]
    return [*((name, direction) for name in types for direction in Direction), ("BELONGS_TO", Direction.IN)]


def reveals_entity(neighbour: Neighbour) -> bool:
    """Return whether a visible edge makes its origin known: it has a source item or leads to an unnamed node."""
    return not is_named(neighbour.node) or SOURCE_ITEM in neighbour.edge.properties


def counted(neighbours: Sequence[Neighbour]) -> dict[Place, int]:
    """Return how many edges of each spread of each node were found."""
    counts: dict[Place, int] = {}
    for neighbour in neighbours:
        key = spread_of(neighbour)
        counts[key] = counts.get(key, 0) + 1
    return counts


def spread_of(neighbour: Neighbour) -> Place:
    """Return the node and the spread along which a neighbour was found."""
    direction = Direction.OUT if neighbour.edge.source == neighbour.origin else Direction.IN
    return neighbour.origin, neighbour.edge.type, direction


async def texts_of(graph: GraphStore, scope: Scope, nodes: Collection[Node]) -> dict[str, str]:
    """Return the text of each node by uid: its own text, or its first passage.

    A viewer gets no description of a named node: its source may be private.
    """
    first = {node.qdrant_id: node.uid for node in nodes if node.qdrant_id and node.label is not Label.CHUNK}
    passages = await graph.texts(scope.tenant, [point for point in first if point])
    own = {node.uid: node.text for node in nodes if node.text and (scope.audience is None or not is_named(node))}
    return own | {first[point]: text for point, text in passages.items()}


_MAX_TAGS = 200


async def filter_results(graph: GraphStore, scope: Scope, items: Sequence[Node]) -> list[Node]:
    """Keep the items whose passage holds at the time of ``scope``, with its domain and tags, that pass its filter.

    Items that the scope is ``without`` are left out.
    """
    kept = [n for n in items if n.qdrant_id is not None and (scope.domains is None or n.domain in scope.domains)]
    kept = [node for node in kept if node.uid not in scope.without] if scope.without else kept
    passing = await passing_filter(graph, scope, [node.uid for node in kept])
    kept = [node for node in kept if node.uid in passing]
    # An item may hold although its text was replaced: only its passage shows this.
    passages = await graph.nodes(scope.tenant, [node.qdrant_id for node in kept if node.qdrant_id is not None])
    kept = [n for n in kept if n.qdrant_id in passages and holds_in_scope(scope, passages[n.qdrant_id])]
    any_of, all_of, none_of = map(set, (scope.tags_any, scope.tags_all, scope.tags_none))
    if not kept or not (any_of or all_of or none_of):
        return kept
    tags: dict[str, set[str]] = {node.uid: set() for node in kept}
    for neighbour in await graph.expand(scope.tenant, list(tags), [("TAGGED", Direction.OUT)], _MAX_TAGS):
        if fold_case(neighbour.node.subtype) != "bucket":
            tags[neighbour.origin] |= {*map(fold_case, (neighbour.node.name, *neighbour.node.aliases))}

    def fits(item_tags: set[str]) -> bool:
        return (not any_of or bool(any_of & item_tags)) and all_of <= item_tags and not none_of & item_tags

    return [node for node in kept if fits(tags[node.uid])]
