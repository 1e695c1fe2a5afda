"""Which tenants have something stored, on every store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.stores.graph_records import Graph, node, put
from vicw_core.tenants import require_tenant, tenants_of
from vicw_shared.errors import InvalidInputError
from vicw_shared.model import Label


async def test_a_tenant_without_a_context_is_refused_with_the_names_of_the_others(graph: Graph) -> None:
    assert await tenants_of(graph) == []
    with pytest.raises(InvalidInputError, match=r"is 't', which has nothing stored\. No tenant has"):
        await require_tenant(graph, "t")
    for number in range(22):
        tenant = f"t{number:02}"
        await put(graph, [replace(node(f"root of {tenant}", Label.CONTEXT), tenant=tenant)], tenant=tenant)
    assert await tenants_of(graph) == [f"t{number:02}" for number in range(22)]
    await require_tenant(graph, "t21")
    await require_tenant(graph, None)
    with pytest.raises(InvalidInputError, match=r"There are: t00, t01, .*, t19 and 2 more$"):
        await require_tenant(graph, "t22")
