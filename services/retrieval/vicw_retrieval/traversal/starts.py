"""Start nodes of a traversal: the nodes that a uid, a caller's id or a name refers to for the viewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from vicw_core.graph.canonical import canonical
from vicw_retrieval.access.scope import is_named
from vicw_retrieval.access.visibility import MAX_READ, Visibility
from vicw_retrieval.channels.runner import seeds_of
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Node
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.model.knowledge import FILE
from vicw_shared.ports import Direction, GraphStore, NamedNodes, NameMatch, Scope, Spread, look_up
from vicw_shared.settings import RetrievalSettings
from vicw_shared.text import fold_case
from vicw_shared.uids import named_uid

_VERSIONS = 100
_REPLACED = 10
_HINTS = 5
_MAX_NAMED = 10
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class StartFinder:
    """Finds nodes that the caller may see. ``known_by`` is that of a ``WalkPlan``."""

    graph: GraphStore
    scope: Scope
    visibility: Visibility
    known_by: Sequence[Spread]
    settings: RetrievalSettings

    async def one(self, reference: str, field: str) -> Node:
        """Return the one node that is meant.

        Raises InvalidInputError if there is none or several: then it names these.
        """
        nodes = await self.all(reference)
        if not nodes:
            message = f"{_cut(reference)!r} matches no uid, id or name"
            raise InvalidInputError(FieldProblem(field, message, await self._hint(reference)))
        if len(nodes) > 1:
            more = f"; and {len(nodes) - _MAX_NAMED} more" if len(nodes) > _MAX_NAMED else ""
            names = "; ".join(_describe(node) for node in nodes[:_MAX_NAMED])
            raise InvalidInputError(
                FieldProblem(field, f"{_cut(reference)!r} matches {len(nodes)} nodes", f"Name a uid: {names}{more}")
            )
        return nodes[0]

    async def all(self, reference: str) -> list[Node]:
        """Return the nodes that may be meant: that with this uid; else items with this id, nodes with this name."""
        if (uid := _uid(reference)) is not None:
            exact = await self.allowed((await self.graph.nodes(self.scope.tenant, [uid])).values())
            if exact:
                return exact
        contexts = self.scope.contexts
        roots = await self.graph.contexts(self.scope.tenant)
        context_names = [root.name for root in roots] if contexts is None else list(contexts)
        items = await self._items(reference, context_names)
        files = set(await self.files_of(items))  # an item with the file's path is the file
        nodes = items + [node for node in await self._by_name(reference) if node.uid not in files]
        if not nodes:
            same = [root for root in roots if fold_case(root.name) == fold_case(reference)]
            nodes = await self.allowed(same)
        return nodes

    async def by_words(self, question: str) -> list[Node]:
        """Return the items with a trigger phrase in the question; without any, those with its words."""
        seeds = await seeds_of(question, self.scope, self.graph, self.settings)
        return seeds or await self._with_words(question, self.settings.trigger_seeds)

    async def files_of(self, items: Sequence[Node]) -> list[str]:
        """Return the uids of the files whose texts these items are: files that they mention by their own path."""
        own = {
            (item.uid, named_uid(item.tenant, item.context, FILE, path))
            for item in items
            for path in (item.source, item.name, item.source_id)
            if path is not None
        }
        files = await self.graph.nodes(self.scope.tenant, sorted({file for _, file in own})) if own else {}
        mentioning = sorted({item for item, file in own if file in files})
        if not mentioning:
            return []
        mentions = await self.graph.expand(self.scope.tenant, mentioning, [("MENTIONS", Direction.OUT)], MAX_READ)
        return sorted({n.node.uid for n in mentions if (n.origin, n.node.uid) in own})

    async def page(self, subtype: str | None, limit: int) -> tuple[list[Node], bool]:
        """Return the named entities of the scope's contexts, by context and name, and whether these are all."""
        nodes: list[Node] = []
        for context in self.scope.contexts or ():
            scan = NamedNodes(tenant=self.scope.tenant, context=context, subtype=subtype)
            after: tuple[str, str] | None = None
            for _ in range(0, MAX_READ, limit):
                page = await self.graph.scan(scan, after=after, limit=limit + 1)
                nodes += await self.allowed(page)
                if len(nodes) > limit:
                    return nodes[:limit], False
                if len(page) <= limit:
                    break
                after = scan.place(page[-1])
        return nodes, True

    async def allowed(self, nodes: Iterable[Node]) -> list[Node]:
        """Keep visible nodes; of named nodes those known to the viewer."""
        seen = await self.visibility.nodes(list(nodes))
        named = [node for node in seen if is_named(node)]
        known = {node.uid for node in await self.visibility.known(named, self.known_by)}
        return [node for node in seen if not is_named(node) or node.uid in known]

    async def _items(self, reference: str, contexts: Sequence[str]) -> list[Node]:
        """Return the items with this id, each in the latest visible version."""
        by_context: dict[str, Node] = {}
        versions = await self.graph.items(self.scope.tenant, reference, contexts)
        for _ in range(_VERSIONS):
            by_context |= {node.context: node for node in await self.allowed(versions)}
            hidden = [node.uid for node in versions if node.context not in by_context]
            if not hidden:
                break
            older = await self.graph.expand(self.scope.tenant, hidden, [("SUPERSEDES", Direction.OUT)], _REPLACED)
            versions = [neighbour.node for neighbour in older if neighbour.node.source_id == reference]
        return [by_context[context] for context in sorted(by_context)]

    async def _by_name(self, name: str) -> list[Node]:
        """Return the nodes with this name, or with this word in a name; merged ones as their canonical nodes."""
        scope, texts = self.scope, [fold_case(name)]
        for by in (NameMatch.NAME, NameMatch.WORD):
            named = await look_up(self.graph, scope.tenant, texts, by=by, contexts=scope.contexts, limit=MAX_READ)
            entities = await self.allowed(node for nodes in named.values() for node in nodes)
            if entities:
                return await self._canonical(entities)
        return []

    async def _canonical(self, nodes: Sequence[Node]) -> list[Node]:
        canonical_uids = await canonical(self.graph, self.scope.tenant, [start.uid for start in nodes])
        ends = await self.graph.nodes(self.scope.tenant, sorted(set(canonical_uids.values())))
        allowed = {node.uid: node for node in await self.allowed(ends.values())}
        by_uid = {node.uid: node for node in (allowed.get(canonical_uids[start.uid], start) for start in nodes)}
        for user in await self._users_of(by_uid):
            del by_uid[user]
        return sorted(by_uid.values(), key=lambda node: (node.context, node.name, node.uid))

    async def _users_of(self, nodes: Mapping[str, Node]) -> set[str]:
        """Return the users among these whose person is among them, too."""
        if len(nodes) < 2:
            return set()
        neighbours = await self.graph.expand(self.scope.tenant, list(nodes), [(IS_PERSON, Direction.OUT)], _VERSIONS)
        return {n.origin for n in await self.visibility.visible(neighbours) if n.node.uid in nodes.keys() - {n.origin}}

    async def _hint(self, reference: str) -> str:
        """Return a hint: items with the words of the reference, one of which may be meant."""
        seen = await self._with_words(reference, _HINTS)
        if not seen:
            return "Check the spelling and the context; `find` lists what there is"
        return f"Items with these words: {'; '.join(map(_describe, sorted(seen, key=lambda node: node.uid)))}"

    async def _with_words(self, words: str, limit: int) -> list[Node]:
        """Return the items whose passages, names or tags have these words, best first."""
        hits = await self.graph.find(self.scope, words, limit) if limit else []
        owners = await self.graph.owners(self.scope.tenant, [hit.uid for hit in hits])
        best = dict.fromkeys(owners[hit.uid].uid for hit in hits if hit.uid in owners)
        items = await self.graph.nodes(self.scope.tenant, list(best))
        return await self.visibility.nodes([items[uid] for uid in best if uid in items])


def _uid(reference: str) -> str | None:
    try:
        return str(UUID(reference))
    except ValueError:
        return None


def _describe(node: Node) -> str:
    called = f"{node.source_id} ({_cut(node.name)}" if node.source_id is not None else f"{_cut(node.name)} ("
    return f"{node.uid} is {called}{', ' if node.source_id is not None else ''}{node.subtype} in {node.context})"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[: _SHOWN_CHARS - 1] + "…"
