"""Link between a user and a person (IS_PERSON) on request: one edge, like a merge, undone by one call."""

from __future__ import annotations

from vicw_core.graph.canonical import DISTINCT_FROM
from vicw_core.graph.edge_factory import EdgeFactory
from vicw_core.identity.merge import MergeDecision
from vicw_ingest.identity.changes import requested_entity, requested_nodes
from vicw_ingest.identity.users import USER
from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.model import Edge, Label, Node
from vicw_shared.model.edges import IS_PERSON, SOURCE_ITEM
from vicw_shared.ports import Direction, GraphStore, GraphTransaction
from vicw_shared.text import fold_case
from vicw_shared.uids import is_uid

_BY = "caller"


async def identify(graph: GraphStore, decision: MergeDecision, user: str, person: str, *, holds: bool = True) -> bool:
    """Record that a user is a person, or, unless it ``holds``, that the two differ. Return False if already recorded.

    Several users may be one person, and one account may belong to several people. A recorded difference outlives
    what items say about the two by name; an extraction's edge stays until its item is retracted. Raises
    InvalidInputError for a uid that is no user, or no person, of the tenant.
    """

    async def work(transaction: GraphTransaction) -> bool:
        nodes = await requested_nodes(transaction, user, person)
        _require(requested_entity(nodes, user, "user"), "user", is_user=True)
        _require(requested_entity(nodes, person, "person"), "person", is_user=False)
        existing = await _between(transaction, IS_PERSON, user, person)
        distinct = await _between(transaction, DISTINCT_FROM, user, person)
        explicit = _explicit_edge(IS_PERSON, user, person, decision)
        if holds:
            changed = bool(distinct) or explicit.id not in {edge.id for edge in existing}
            await transaction.drop_edges(distinct)
            await transaction.put_edges([explicit])
        else:
            unsupported = [edge for edge in existing if SOURCE_ITEM not in edge.properties]
            changed = bool(unsupported) or not distinct
            await transaction.drop_edges(unsupported)
            await transaction.put_edges([_explicit_edge(DISTINCT_FROM, user, person, decision)])
        return changed

    user_node = (await graph.nodes(decision.tenant, [user] if is_uid(user) else [])).get(user)
    # Under the lock of the user's context, which also guards the edges that its items add to the user.
    return await graph.write(decision.tenant, user_node.context if user_node is not None else "", work)


def _explicit_edge(edge_type: str, user: str, person: str, decision: MergeDecision) -> Edge:
    # An id of its own, apart from edges that items support: retiring their last support leaves this edge.
    return EdgeFactory(decision.registry, decision.at).edge(edge_type, user, person, by=_BY, source_item=_BY)


async def _between(transaction: GraphTransaction, edge_type: str, user: str, person: str) -> list[Edge]:
    edges = await transaction.edges([user], [edge_type], Direction.OUT)
    return [edge for edge in edges if edge.target == person]


def _require(node: Node, field: str, *, is_user: bool) -> None:
    if node.label is not Label.ENTITY or (fold_case(node.subtype) == USER) is not is_user:
        expected = f"an entity of subtype {USER!r}" if is_user else "an entity that is not a user"
        raise InvalidInputError(
            FieldProblem(field, f"{node.name!r} is of subtype {node.subtype!r}", f"Name {expected}: see GET /entities")
        )
