"""What stands beside a result because of its place in time: an earlier statement, or a correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo

from vicw_retrieval.ranking.fusion import Candidate
from vicw_retrieval.refine.later_first import StatementPair
from vicw_shared.clock import in_zone
from vicw_shared.model import Node
from vicw_shared.wire.retrieve import Result
from vicw_shared.wire.statement_change import StatementChange


def with_changes(
    results: Sequence[Result],
    pairs: Sequence[StatementPair],
    texts: Mapping[str, str],
    nodes: Mapping[str, Node],
) -> list[Result]:
    """Return the results with what was told earlier or later of the same.

    ``texts`` are those of the pairs' first passages, ``nodes`` those of their items, by uid. A statement that is a
    result itself stands in its own place, so only a correction names it.
    """
    shown = {result.uid for result in results}
    changes: dict[str, list[StatementChange]] = {}
    for pair in pairs:
        beside: list[tuple[Candidate, str, Candidate]] = []
        if pair.corrects:
            beside = [(pair.later, "corrects", pair.earlier), (pair.earlier, "corrected_by", pair.later)]
        elif pair.earlier.key not in shown:
            beside = [(pair.later, "earlier", pair.earlier)]
        for one, relation, other in beside:
            node, text = nodes.get(other.key), texts.get(other.passages[0][0])
            if node is not None and text:
                fields = {"relation": relation, "uid": other.key, "id": node.source_id, "text": text}
                change = StatementChange.model_validate({**fields, "timestamp": other.item.timestamp})
                changes.setdefault(one.key, []).append(change)
    return [
        result.model_copy(update={"changes": tuple(changes[result.uid])}) if result.uid in changes else result
        for result in results
    ]


def passages_of(pairs: Sequence[StatementPair]) -> list[str]:
    """Return the uids of the passages of which the texts are shown."""
    return [one.passages[0][0] for pair in pairs for one in _both(pair)]


def items_of(pairs: Sequence[StatementPair]) -> list[str]:
    """Return the uids of the items that are shown."""
    return [one.key for pair in pairs for one in _both(pair)]


def _both(pair: StatementPair) -> tuple[Candidate, Candidate]:
    return pair.earlier, pair.later


def change_lines(result: Result, zone: tzinfo) -> Iterator[str]:
    """Yield a line for each, below the result; dates in ``zone``."""
    for change in result.changes:
        own = result.timestamp or change.timestamp
        words = {
            "earlier": f"earlier, {_day(change.timestamp, zone)}",
            "corrects": f"since {_day(own, zone)}; until then",
            "corrected_by": f"until {_day(change.timestamp, zone)}; since then",
        }
        yield f"    {words[change.relation]}: {' '.join(change.text.split())}"


def _day(at: datetime, zone: tzinfo) -> str:
    return f"{in_zone(at, zone):%Y-%m-%d}"
