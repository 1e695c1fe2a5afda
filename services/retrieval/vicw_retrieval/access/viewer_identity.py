"""Identity of a viewer: the users, their persons and the entities merged with these.

Names are looked up in every context of the tenant, since memories of different contexts may be about one person.
Identity is decided anew for each question, from edges alone: an undone merge no longer gives access, and an undecided
merge never did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vicw_core.graph.canonical import MERGED_INTO, is_inferred
from vicw_retrieval.access.scope import is_expired
from vicw_retrieval.access.visibility import Visibility
from vicw_shared.model import Label, Node
from vicw_shared.model.edges import IS_PERSON, SOURCE_ITEM
from vicw_shared.ports import Direction, GraphStore, Neighbour, Scope, Spread, look_up
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

MAX_IDENTITIES = 1000
"""Maximum nodes of one viewer, and maximum edges followed from each."""
_SELVES = frozenset({"person", "user", "agent"})
_MERGES: tuple[Spread, ...] = ((MERGED_INTO, Direction.OUT), (MERGED_INTO, Direction.IN))


async def with_viewer_identities(graph: GraphStore, scope: Scope) -> Scope:
    """Return the scope with all identities of its viewer among the subjects; unchanged without a viewer.

    These are the user's persons by IS_PERSON, the nodes merged with them, and the other users of these persons; not the
    further persons of those users.
    """
    audience = scope.audience
    if audience is None or not audience.identities:
        return scope
    by_name = await look_up(graph, scope.tenant, audience.identities, limit=MAX_IDENTITIES)
    starts = {node.uid for nodes in by_name.values() for node in nodes if is_self(node)}
    if uids := [subject for subject in audience.identities if is_uid(subject)]:
        starts |= {uid for uid, node in (await graph.nodes(scope.tenant, uids)).items() if is_self(node)}
    if not starts:
        return scope
    selves = await _Identities(graph, scope).all(starts)
    subjects = dict.fromkeys((*audience.identities, *sorted(selves)[:MAX_IDENTITIES]))
    return replace(scope, audience=replace(audience, identities=tuple(subjects)))


async def same_person(graph: GraphStore, scope: Scope, visibility: Visibility, uid: str) -> set[str]:
    """Return all nodes of a person or user as far as the viewer of ``scope`` may know that they are the same."""
    return await _Identities(graph, scope, visibility).all({uid})


def is_self(node: Node) -> bool:
    """Return whether a node is a person or a user."""
    return node.label is Label.ENTITY and node.content_hash is None and fold_case(node.subtype) in _SELVES


@dataclass(frozen=True, slots=True)
class _Identities:
    """Identities over edges that are no guesses and hold; with a ``visibility`` also visible."""

    graph: GraphStore
    scope: Scope
    visibility: Visibility | None = None

    async def all(self, starts: Iterable[str]) -> set[str]:
        """Return these nodes with their persons, the users of these, and what is merged with any."""
        selves = await self.merged(starts)
        selves |= await self.merged(await self.along(selves, (IS_PERSON, Direction.OUT)))
        return selves | await self.merged(await self.along(selves, (IS_PERSON, Direction.IN)))

    async def merged(self, uids: Iterable[str]) -> set[str]:
        """Return these nodes with all nodes merged with them, in either direction."""
        seen = set(uids)
        frontier: set[str] = set(seen)
        while frontier and len(seen) < MAX_IDENTITIES:
            frontier = await self._ends(sorted(frontier), _MERGES) - seen
            seen |= frontier
        return seen

    async def along(self, uids: Iterable[str], spread: Spread) -> set[str]:
        """Return the nodes to which a spread leads from these nodes."""
        return await self._ends(sorted(uids), (spread,))

    async def _ends(self, uids: Sequence[str], spreads: Sequence[Spread]) -> set[str]:
        neighbours = await self.graph.expand(self.scope.tenant, uids, spreads, MAX_IDENTITIES) if uids else []
        return {neighbour.node.uid for neighbour in await self._valid(neighbours)}

    async def _valid(self, neighbours: Sequence[Neighbour]) -> list[Neighbour]:
        """Leave out guesses, and edges whose source item is retired, expired or missing."""
        neighbours = [n for n in neighbours if not is_inferred(n.edge)]
        source_uids = {str(n.edge.properties[SOURCE_ITEM]) for n in neighbours if SOURCE_ITEM in n.edge.properties}
        source_items = await self.graph.nodes(self.scope.tenant, sorted(source_uids)) if source_uids else {}
        valid_sources = {
            uid for uid, node in source_items.items() if node.retired_at is None and not is_expired(self.scope, node)
        }
        valid = [n for n in neighbours if n.edge.properties.get(SOURCE_ITEM) in {None, *valid_sources}]
        return valid if self.visibility is None else await self.visibility.visible(valid)
