"""The commonest conditions of a filter where a request has them as fields of its own, beside a ``filter``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vicw_core.filters.compiler import compile_filter
from vicw_shared.ports.item_filter import AllOf, ItemCondition
from vicw_shared.settings import LimitSettings
from vicw_shared.wire.filters import METADATA, Filter, ValueMatch
from vicw_shared.wire.plain_conditions import PlainConditions

_NAMES = ("label", "subtype", "speaker", "user", "flow", "source")


def all_conditions(
    request: PlainConditions,
    limits: LimitSettings,
    field: str,
    *,
    domain: str | None = None,
    tags: Sequence[str] = (),
    metadata: Mapping[str, ValueMatch] | None = None,
    chosen: Filter | None = None,
) -> ItemCondition | None:
    """Return the conditions that stand in a request itself, and those of its filter ``chosen``; None without any.

    All must hold. ``field`` is where the former stand, "" for the request itself. Raises as ``compile_filter``.
    """
    sent: dict[str, Any] = {name: getattr(request, name) for name in _NAMES} | {"domain": domain}
    sent |= {f"{METADATA}{key}": match for key, match in (metadata or {}).items()}
    sent["tags"] = {"all": tags} if tags else None
    window = {"gte": request.since, "lt": request.until}
    sent["told"] = {name: at for name, at in window.items() if at is not None} or None
    sent = {name: value for name, value in sent.items() if value is not None}
    plain = compile_filter(Filter.model_validate(sent), limits, field) if sent else None
    filtered = compile_filter(chosen, limits) if chosen is not None else None
    return plain or filtered if plain is None or filtered is None else AllOf((plain, filtered))
