"""Selection of what to erase: the items of an id, a filter, a person, a context or a tenant, and their number.

Read-only. A person's items are those that the person said, and those about the person. Items of others that only
mention the person stay, unless the request includes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from vicw_core.consolidation.ledger import entries_of
from vicw_core.filters.compiler import compile_in_context
from vicw_core.graph.canonical import DISTINCT_FROM, MERGED_INTO, is_inferred
from vicw_core.graph.tenants import require_tenant
from vicw_ingest.identity.users import USER
from vicw_ingest.versions.filtered_items import choose_stored
from vicw_shared.errors import FieldProblem, InvalidInputError, MissingRecordError, StateConflictError
from vicw_shared.model import Label, Node
from vicw_shared.model.core5 import CONSOLIDATED_ITEM
from vicw_shared.model.edges import IS_PERSON
from vicw_shared.ports import Direction, GraphStore, GraphTransaction, Nodes, Spread, Store, look_up, scan_pages
from vicw_shared.settings import LimitSettings
from vicw_shared.text import flaw, fold_case
from vicw_shared.uids import chunk_uid, is_uid, named_uid
from vicw_shared.wire.filters import Filter

_ALL = 1_000_000
_SAME_PERSON: tuple[Spread, ...] = tuple((name, way) for name in (MERGED_INTO, IS_PERSON) for way in Direction)
"""Edges to a person's other names and users."""
_STATED: tuple[Spread, ...] = (("INITIATED", Direction.OUT), ("STATED_BY", Direction.IN))
_OWN: tuple[Spread, ...] = (*_STATED, ("ABOUT", Direction.IN))
_DISTINCT: tuple[Spread, ...] = tuple((DISTINCT_FROM, way) for way in Direction)
_MENTIONS: tuple[Spread, ...] = (("MENTIONS", Direction.IN),)
_TO_PASSAGES: tuple[Spread, ...] = (("EVIDENCED_BY", Direction.OUT),)
_FROM_PASSAGES: tuple[Spread, ...] = (("EVIDENCED_BY", Direction.IN),)


@dataclass(frozen=True, slots=True)
class ErasureSelection:
    """Selection to erase: ``items`` (uids) by context, or whole ``contexts``, or the whole tenant (``everything``).

    ``people`` are a person's nodes. ``mentioned`` counts items of others, which stay and keep the person's name.
    ``partial`` contexts (names) were imported in part: their nodes may be unconnected.
    """

    tenant: str
    items: dict[str, list[str]] = field(default_factory=dict)
    contexts: tuple[str, ...] = ()
    everything: bool = False
    people: tuple[Node, ...] = ()
    mentioned: int = 0
    partial: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of items that are selected one by one."""
        return sum(map(len, self.items.values()))

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return not (self.count or self.contexts or self.everything or self.people or self.partial)

    @property
    def is_only_mentioned(self) -> bool:
        """Whether items of others mention the person, and no item is by or about the person."""
        return bool(self.people) and self.mentioned > 0 and not self.count


async def choose_items(graph: GraphStore, tenant: str, ids: Sequence[str], context: str | None) -> ErasureSelection:
    """Select items by their callers' ids or their uids, including consolidated items.

    Raises MissingRecordError for an unknown id; StateConflictError for an id in several contexts, which it names.
    """
    contexts = [context] if context is not None else [root.name for root in await graph.contexts(tenant)]
    uids_by_context: dict[str, list[str]] = {}
    for item_id in ids:
        items = await _by_id(graph, tenant, item_id, contexts)
        contexts_of_item = sorted({node.context for node in items})
        if not items:
            raise MissingRecordError(f"There is no item {item_id!r} in {_scope_name(tenant, context)}")
        if len(contexts_of_item) > 1:
            raise StateConflictError(
                f"{item_id!r} is an item of {', '.join(map(repr, contexts_of_item))}: name one with --context"
            )
        uids_by_context.setdefault(contexts_of_item[0], []).extend(node.uid for node in items)
    return ErasureSelection(
        tenant, {context_name: list(dict.fromkeys(uids)) for context_name, uids in uids_by_context.items()}
    )


async def choose_by_filter(
    graph: GraphStore, tenant: str, chosen: Filter, context: str | None, limits: LimitSettings, *, everything: bool
) -> ErasureSelection:
    """Select the items of which the latest version passes a filter, in one or all contexts; retracted ones, too.

    Raises InvalidInputError for a wrong filter, and unless ``everything`` is meant for one that every item passes.
    """
    passing = await choose_stored(graph, tenant, compile_in_context(chosen, limits, context))
    if passing.everything and passing.by_context and not everything:
        problem = "is not true, and every item that is stored passes the filter"
        raise InvalidInputError(FieldProblem("all", problem, "Send `all` as well, or name what is meant"))
    return ErasureSelection(tenant, passing.by_context)


async def choose_person(
    graph: Store,
    tenant: str,
    name: str,
    context: str | None,
    *,
    everywhere: bool = False,
    with_mentions: bool = False,
) -> ErasureSelection:
    """Select the items stated by a person and those about the person, under all of the person's names.

    ``name`` may be a uid. Past items count, too: retracted, expired or superseded. Persons of one name in several
    contexts may differ: the caller names one of them, or passes ``everywhere``. Raises MissingRecordError for an
    unknown name, StateConflictError for an ambiguous one, with the uids.
    """
    people = await _people(graph, tenant, name, context, everywhere=everywhere)
    uids = [person.uid for person in people]
    uids_by_context: dict[str, set[str]] = {}
    for item in [
        *(await _items_of(graph, tenant, uids, _OWN)).values(),
        *await _stated_while_merged(graph, tenant, people),
    ]:
        uids_by_context.setdefault(item.context, set()).add(item.uid)
    mentioned = 0
    for context_name, items in (await _mentioning_items(graph, tenant, uids)).items():
        others = items - uids_by_context.get(context_name, set())
        if with_mentions:
            uids_by_context.setdefault(context_name, set()).update(others)
        else:
            mentioned += len(others)
    items_of = {context_name: sorted(items) for context_name, items in sorted(uids_by_context.items()) if items}
    return ErasureSelection(tenant, items_of, people=tuple(people), mentioned=mentioned)


async def choose_user(
    graph: Store, tenant: str, user: str, context: str | None, *, with_mentions: bool = False
) -> ErasureSelection:
    """Select what a user (a caller's id) and the user's person said, and what is about them, in one or all contexts.

    Raises MissingRecordError for an unknown user.
    """
    contexts = [context] if context is not None else [root.name for root in await graph.contexts(tenant)]
    uids = [] if any(map(flaw, (user, *contexts))) else [named_uid(tenant, name, USER, user) for name in contexts]
    users = sorted(await graph.nodes(tenant, uids)) if uids else []
    if not users:
        raise MissingRecordError(f"There is no user {user!r} in {_scope_name(tenant, context)}")
    chosen = [await choose_person(graph, tenant, uid, None, with_mentions=with_mentions) for uid in users]
    items: dict[str, set[str]] = {}
    for one in chosen:
        for name, selected in one.items.items():
            items.setdefault(name, set()).update(selected)
    people = {person.uid: person for one in chosen for person in one.people}
    mentioned = sum(one.mentioned for one in chosen)
    by_context = {name: sorted(selected) for name, selected in sorted(items.items())}
    return ErasureSelection(tenant, by_context, people=tuple(people.values()), mentioned=mentioned)


async def choose_context(graph: GraphStore, tenant: str, context: str) -> ErasureSelection:
    """Select a whole context. Raises MissingRecordError for an unknown name."""
    known = [root.name for root in await graph.contexts(tenant)]
    if context not in known:
        raise MissingRecordError(f"There is no context {context!r} in tenant {tenant!r}; there is {_listed(known)}")
    return ErasureSelection(tenant, contexts=(context,))


async def choose_tenant(graph: Store, tenant: str) -> ErasureSelection:
    """Select a whole tenant. Raises MissingRecordError if nothing of it is stored or being erased."""
    return ErasureSelection(tenant, contexts=await require_tenant(graph, tenant), everything=True)


async def _by_id(graph: GraphStore, tenant: str, item_id: str, contexts: Sequence[str]) -> list[Node]:
    """Return the item that a caller's id or a uid names in each context, a consolidated one from its ledger."""
    items: list[Node] = []
    if any(map(flaw, (item_id, *contexts))):
        return items  # no item has it: it cannot be stored
    if is_uid(item_id):
        nodes = (await graph.nodes(tenant, [item_id, chunk_uid(item_id, 0)])).values()
        matching = [
            node for node in nodes if node.uid == item_id and node.content_hash is not None and not node.is_macro
        ]
        items = (matching or [one.item for one in entries_of(list(nodes)).values() if one.item.uid == item_id])[:1]
    if items:
        return [node for node in items if node.context in contexts]

    async def look(transaction: GraphTransaction) -> list[Node]:
        latest = await transaction.items([item_id])
        consolidated = await transaction.consolidated([item_id])
        return [*latest.values(), *(one.item for one in entries_of(list(consolidated.values())).values())]

    for context in contexts:
        matching = [node for node in await graph.write(tenant, context, look) if not node.is_macro]
        items += matching[:1] if len({node.source_id for node in matching}) == 1 else matching
    return items


async def _people(graph: Store, tenant: str, name: str, context: str | None, *, everywhere: bool) -> list[Node]:
    """Return the nodes of a person: all entities merged with it, and its users."""
    named = [node for node in await _nodes_named(graph, tenant, name, context) if _may_be_person(node)]
    if not named:
        raise MissingRecordError(f"No person is called {name!r} in {_scope_name(tenant, context)}")
    person = {node.uid: node for node in named[:1]} if not everywhere else {node.uid: node for node in named}
    fresh = list(person)
    while fresh:
        # An inferred merge may join another person, who is erased by name instead.
        merged = [
            neighbour
            for neighbour in await graph.expand(tenant, fresh, _SAME_PERSON, _ALL)
            if not is_inferred(neighbour.edge)
        ]
        fresh = sorted({neighbour.node.uid for neighbour in merged} - person.keys())
        person |= {neighbour.node.uid: neighbour.node for neighbour in merged}
    if others := [node for node in named if node.uid not in person]:
        listed = ", ".join(f"{node.uid} ({node.context!r}, {node.subtype})" for node in (named[0], *others[:19]))
        raise StateConflictError(
            f"Several things are called {name!r}: {listed}. Give a uid, --context, or --everywhere"
        )
    return list(person.values())


async def _nodes_named(graph: Store, tenant: str, name: str, context: str | None) -> list[Node]:
    """Return all nodes that have or had this name, live ones first."""
    if is_uid(name):
        return list((await graph.nodes(tenant, [name])).values())
    if flaw(name) or flaw(context or ""):
        return []  # no node has it: it cannot be stored
    folded, contexts = fold_case(name), [context] if context is not None else None
    nodes = (await look_up(graph, tenant, [folded], contexts=contexts, limit=_ALL)).get(folded, [])
    async for page in scan_pages(graph, Nodes(Label.ENTITY)):
        past = [node for node in page if node.retired_at is not None and node.tenant == tenant]
        past = [node for node in past if context in {None, node.context}]
        nodes += [node for node in past if folded in map(fold_case, (node.name, *node.aliases))]
    return nodes


def _may_be_person(node: Node) -> bool:
    return node.label is Label.ENTITY and node.content_hash is None


async def _ends(graph: GraphStore, tenant: str, uids: Sequence[str], spreads: Sequence[Spread]) -> list[Node]:
    return [neighbour.node for neighbour in await graph.expand(tenant, uids, spreads, _ALL)]


async def _items_of(
    graph: GraphStore, tenant: str, people: Sequence[str], spreads: Sequence[Spread]
) -> dict[str, Node]:
    """Return the items joined to ``people`` by ``spreads``, by uid, consolidated ones from their ledgers."""
    items: dict[str, Node] = {}
    types = {name for name, _ in spreads}
    for node in await _ends(graph, tenant, people, spreads) if people else ():
        if node.content_hash is not None and not node.is_macro:
            items[node.uid] = node
        elif node.is_macro:
            passages = await _ends(graph, tenant, [node.uid], _TO_PASSAGES)
            for entry in entries_of(passages).values():
                joined = any(e.type in types and {e.source, e.target} & {*people} for e in entry.edges)
                items |= {entry.item.uid: entry.item} if joined and not entry.item.is_macro else {}
    return items


async def _stated_while_merged(graph: GraphStore, tenant: str, people: Sequence[Node]) -> list[Node]:
    """Return the items that a person said while merged into another entity, before the two were split."""
    uids = {person.uid for person in people}
    names = {fold_case(name) for person in people for name in (person.name, *person.aliases)}
    others = sorted({other.uid for other in await _ends(graph, tenant, sorted(uids), _DISTINCT)} - uids)
    items = await _items_of(graph, tenant, others, _STATED)
    return [item for item in items.values() if fold_case(item.speaker or "") in names]


async def _mentioning_items(graph: GraphStore, tenant: str, people: Sequence[str]) -> dict[str, set[str]]:
    """Return the items (uids) by context that mention ``people`` in their sentences or through their edges."""
    neighbours = await _ends(graph, tenant, people, (*_OWN, *_MENTIONS))
    uids_by_context: dict[str, set[str]] = {}
    passages = {n.uid: n for n in neighbours if n.label is Label.CHUNK}
    evidenced = [n.uid for n in neighbours if n.label is not Label.CHUNK and n.content_hash is None]
    passages |= {n.uid: n for n in await _ends(graph, tenant, evidenced, _TO_PASSAGES)} if evidenced else {}
    macros = [n.uid for n in neighbours if n.is_macro]
    proofs = await _ends(graph, tenant, macros, _TO_PASSAGES) if macros else []
    for entry in entries_of(proofs).values():
        if not entry.item.is_macro and any({e.source, e.target} & {*people} for e in entry.edges):
            uids_by_context.setdefault(entry.item.context, set()).add(entry.item.uid)
    for passage in passages.values():
        if (part := passage.metadata.get(CONSOLIDATED_ITEM)) is not None:
            uids_by_context.setdefault(passage.context, set()).add(str(part))
    owners = await _ends(
        graph, tenant, [u for u, p in passages.items() if CONSOLIDATED_ITEM not in p.metadata], _FROM_PASSAGES
    )
    for item in (*owners, *neighbours):
        if item.content_hash is not None and not item.is_macro:
            uids_by_context.setdefault(item.context, set()).add(item.uid)
    return uids_by_context


def _scope_name(tenant: str, context: str | None) -> str:
    return f"context {context!r} of tenant {tenant!r}" if context is not None else f"tenant {tenant!r}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names)[:20])) or "none"
