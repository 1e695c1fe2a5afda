"""Supersession: compare the statements of a slot in order of time, each with the earlier ones still in force.

The person concerned ranks before other witnesses, and these before hearsay. A newer statement supersedes one that it
differs from, unless the older ranks higher or the newer is hearsay; then both stay, with a CONTRADICTS edge. It
decides only if it tells of the change itself; else both are found, the later first (docs/decisions/0059). It runs
after everything else that a transaction stores, for each touched slot, and always from all live statements of the
slot: after late, updated or retracted items the edges equal those of a fresh computation (docs/decisions/0059). What
a person has put in an item's place (``POST /supersede``) is compared in the same way, for each touched item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vicw_core.graph.edge_factory import CALLER, EdgeFactory
from vicw_ingest.plan.linking.attribute_claims import is_claim
from vicw_ingest.versions.claim_comparison import ClaimedValue, agrees, are_readings, supersedes
from vicw_shared.model import Edge, EdgeRegistry, Node
from vicw_shared.model.chain import HAPPENED_AFTER, chain_key
from vicw_shared.model.edges import SOURCE_ITEM
from vicw_shared.model.names import ATTRIBUTE
from vicw_shared.model.supersession import CLAIM_RULE, STATED, UNTIL, decides
from vicw_shared.ports import Direction, GraphTransaction

_TYPES = ("SUPERSEDES", "CONTRADICTS", "SUPPORTS")
_SLOT = "slot"
_MAX_STATEMENTS = 200
"""Newest statements of a slot that are compared: older ones have been superseded, or are repeated all the time."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A live statement in a slot. ``rank``: 3 from the person concerned, 2 from others, 1 from hearsay."""

    statement: Node
    item: Node
    claim: ClaimedValue
    rank: int
    order: int

    @property
    def at(self) -> tuple[object, ...]:
        return (*(chain_key(HAPPENED_AFTER, self.item) or (0,)), self.order)


@dataclass(frozen=True, slots=True)
class Supersession:
    """Update the edges between the statements of slots inside one transaction."""

    transaction: GraphTransaction
    registry: EdgeRegistry
    now: datetime

    async def apply(self, touched: Collection[str]) -> set[str]:
        """Compare the statements of the slots among ``touched`` nodes, and date the items that a person replaced.

        Returns the items whose passages changed.
        """
        nodes = await self.transaction.nodes(sorted(touched))
        hidden = [node for node in nodes.values() if node.content_hash is not None and node.superseded_at is not None]
        return await self.date_items(hidden) | await self._compare_slots(nodes)

    async def date_items(self, items: Iterable[Node]) -> set[str]:
        """Set or clear the end of live items by what persons put in their place, and of what rests on these alone.

        What was retracted as never true replaces nothing any more. Returns the items whose passages changed.
        """
        live = {item.uid: item for item in items if item.retired_at is None}
        stated = stated_edges(await self.transaction.edges(list(live), ["SUPERSEDES"], Direction.IN) if live else [])
        newer = await self.transaction.nodes(sorted({edge.source for edge in stated}))
        ends: dict[str, list[datetime]] = {uid: [] for uid in live}
        for edge in stated:
            if newer[edge.source].retired_at is None or newer[edge.source].valid_to is not None:
                ends[edge.target].append(datetime.fromisoformat(str(edge.properties[UNTIL])))
        dated = [replace(item, superseded_at=min(ends[uid], default=None)) for uid, item in live.items()]
        changed = [item for item in dated if item.superseded_at != live[item.uid].superseded_at]
        if not changed:
            return set()
        await self.transaction.put_nodes(changed)
        uids = [item.uid for item in changed]
        proofs = await self.transaction.edges(uids, ["EVIDENCED_BY"], Direction.OUT)
        passages = await self.transaction.nodes(sorted({proof.target for proof in proofs}))
        await self.transaction.put_nodes(list(passages.values()))  # queues their payloads
        stating = await self.transaction.edges(list(passages), ["EVIDENCED_BY"], Direction.IN)
        return {*uids, *await self._update_ends({edge.source for edge in stating} - set(uids))}

    async def _compare_slots(self, nodes: Mapping[str, Node]) -> set[str]:
        slots = sorted(node.uid for node in nodes.values() if node.subtype == ATTRIBUTE)
        mentions = await self.transaction.edges(slots, ["MENTIONS"], Direction.IN) if slots else []
        claims = [edge for edge in mentions if is_claim(edge)]
        if not claims:
            return set()
        by_slot = await self._statements(claims)
        expected = {edge.id: edge for slot, in_slot in by_slot.items() for edge in self._compare(slot, in_slot)}
        statements = sorted({edge.source for edge in claims})
        stored = await self.transaction.edges(statements, _TYPES)
        decisions = [edge for edge in stored if edge.created_by == CLAIM_RULE and edge.properties.get(_SLOT) in by_slot]
        stale = [
            edge for edge in decisions if edge.id not in expected or expected[edge.id].properties != edge.properties
        ]
        unchanged = {edge.id for edge in decisions} - {edge.id for edge in stale}
        added = [edge for uid, edge in expected.items() if uid not in unchanged]
        await self.transaction.drop_edges(stale)
        await self.transaction.put_edges(added)
        return await self._update_ends({edge.target for edge in (*stale, *added)})

    async def _statements(self, claims: Sequence[Edge]) -> dict[str, list[_Statement]]:
        """Return the live statements of each slot in order of time. Empty slots are included."""
        uids = {uid for edge in claims for uid in (edge.source, str(edge.properties[SOURCE_ITEM]))}
        nodes = await self.transaction.nodes(sorted(uids))
        by_slot: dict[str, list[_Statement]] = {edge.target: [] for edge in claims}
        for edge in claims:
            statement, item = nodes.get(edge.source), nodes.get(str(edge.properties[SOURCE_ITEM]))
            if statement is None or item is None or statement.retired_at is not None or item.retired_at is not None:
                continue
            properties = edge.properties
            ended, weak, changed = (bool(properties.get(name)) for name in ("ended", "weak", "now"))
            claim = ClaimedValue(str(properties["value"]), ended=ended, weak=weak, now=changed)
            rank = 1 if properties.get("hearsay") else 3 if properties.get("own") else 2
            by_slot[edge.target].append(_Statement(statement, item, claim, rank, int(str(properties["order"]))))
        return {slot: sorted(in_slot, key=lambda one: one.at)[-_MAX_STATEMENTS:] for slot, in_slot in by_slot.items()}

    def _compare(self, slot: str, statements: Iterable[_Statement]) -> list[Edge]:
        """Return the edges between the statements of a slot."""
        edges: list[Edge] = []
        in_force: list[_Statement] = []
        for new in statements:
            still_in_force = []
            for old in in_force:
                verdict = _verdict(new, old)
                if verdict is not None:
                    edges.append(self._edge(verdict, slot, new, old))
                if verdict != "SUPERSEDES":
                    still_in_force.append(old)
            in_force = [*still_in_force, new]
        return edges

    def _edge(self, edge_type: str, slot: str, new: _Statement, old: _Statement) -> Edge:
        properties: dict[str, object] = {_SLOT: slot}
        if edge_type == "SUPERSEDES":
            properties[UNTIL] = _until(new, old).isoformat()
            properties |= {STATED: True} if new.claim.now else {}
        item, uids = new.item.uid, (new.statement.uid, old.statement.uid)
        return EdgeFactory(self.registry, self.now).edge(
            edge_type, *uids, by=CLAIM_RULE, item=item, source_item=item, desc=slot, properties=properties
        )

    async def _update_ends(self, changed: Collection[str]) -> set[str]:
        """Set the ends of statements, and of passages all of whose statements have ended. Return their items.

        ``valid_to`` counts every later statement, ``superseded_at`` only those that decide.
        """
        ends, decided = await self._ends(sorted(changed)), await self._ends(sorted(changed), only=decides)
        nodes = await self.transaction.nodes(sorted(changed))
        live = [node for node in nodes.values() if node.is_statement and node.retired_at is None]
        dated = {node.uid: replace(node, valid_to=ends[node.uid], superseded_at=decided[node.uid]) for node in live}
        proofs = await self.transaction.edges(list(dated), ["EVIDENCED_BY"], Direction.OUT)
        proving = await self.transaction.nodes(sorted({proof.target for proof in proofs}))
        passages = {uid: passage for uid, passage in proving.items() if passage.retired_at is None}
        proven = await self.transaction.edges(list(passages), ["EVIDENCED_BY"], Direction.IN)
        events = await self.transaction.nodes(sorted({edge.source for edge in proven})) | dated
        proving_events: dict[str, list[Node]] = {uid: [] for uid in passages}
        owners = {edge.target: events[edge.source] for edge in proven if events[edge.source].content_hash is not None}
        dated = await self._with_owners(dated, proofs, owners)
        events |= dated
        for edge in proven:
            if events[edge.source].is_statement and events[edge.source].retired_at is None:
                proving_events[edge.target].append(events[edge.source])
        dated_passages = [
            replace(
                passages[uid],
                valid_to=_latest_end([event.valid_to for event in stating]),
                superseded_at=_latest_end([event.superseded_at for event in stating]),
            )
            for uid, stating in proving_events.items()
        ]
        await self.transaction.put_nodes([*dated.values(), *dated_passages])
        return {edge.source for edge in proven if events[edge.source].content_hash is not None}

    async def _with_owners(
        self, statements: Mapping[str, Node], proofs: Iterable[Edge], owners: Mapping[str, Node]
    ) -> dict[str, Node]:
        """Return the statements; one whose items were all replaced by a person ends with the last of them."""
        ends: dict[str, list[datetime | None]] = defaultdict(list)
        for proof in proofs:
            if proof.target in owners:
                ends[proof.source].append(owners[proof.target].superseded_at)
        return {
            uid: replace(one, superseded_at=_earliest([one.superseded_at, _latest_end(ends[uid])]))
            for uid, one in statements.items()
        }

    async def _ends(
        self, statements: Sequence[str], only: Callable[[Edge], bool] = lambda edge: True
    ) -> Mapping[str, datetime | None]:
        """Return the end of each statement: when the last of its claims was superseded, else None.

        ``only`` chooses the edges that count.
        Slots of one ``order`` belong to one claim about several entities, which ends with any of them.
        """
        claim_of: dict[tuple[str, str], str] = {}
        claims: dict[str, dict[str, datetime | None]] = defaultdict(dict)
        for edge in await self.transaction.edges(statements, ["MENTIONS"], Direction.OUT):
            if is_claim(edge):
                claim = claim_of[edge.source, edge.target] = f"{edge.created_by} {edge.properties['order']}"
                claims[edge.source][claim] = None
        for edge in await self.transaction.edges(statements, ["SUPERSEDES"], Direction.IN):
            if edge.created_by == CLAIM_RULE and only(edge):
                claim = claim_of[edge.target, str(edge.properties[_SLOT])]
                claims[edge.target][claim] = datetime.fromisoformat(str(edge.properties[UNTIL]))
        return {uid: _latest_end(list(claims[uid].values())) for uid in statements}


def _verdict(new: _Statement, old: _Statement) -> str | None:
    """Return the type of the edge from a newer statement to an older one, or None if they are compatible."""
    if agrees(new.claim, old.claim):
        if new.rank > old.rank == 1:
            return "SUPERSEDES"  # a first-hand statement replaces hearsay
        return "SUPPORTS" if new.item.speaker != old.item.speaker else None
    if not supersedes(new.claim, old.claim) or (not new.claim.now and are_readings(new.claim, old.claim)):
        return None
    if new.rank == 1:
        return "CONTRADICTS"  # hearsay replaces nothing, not even hearsay
    return "SUPERSEDES" if new.rank >= old.rank else "CONTRADICTS"


def _until(new: _Statement, old: _Statement) -> datetime:
    """Return the end of the older statement: the newer one's start, if after the older item, else its item's time."""
    start, old_time = new.statement.timestamp, old.item.timestamp
    new_time = new.item.timestamp or new.item.created_at
    return start if start is not None and (old_time is None or start > old_time) else new_time


def stated_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return those SUPERSEDES edges that a person stated between two items."""
    return [edge for edge in edges if edge.created_by == CALLER]


def _earliest(ends: Iterable[datetime | None]) -> datetime | None:
    return min((end for end in ends if end is not None), default=None)


def _latest_end(ends: Sequence[datetime | None]) -> datetime | None:
    """Return the latest of ``ends``, or None if one is open or there are none."""
    closed = [end for end in ends if end is not None]
    return max(closed) if closed and len(closed) == len(ends) else None
