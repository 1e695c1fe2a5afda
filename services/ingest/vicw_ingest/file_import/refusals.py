"""What a refused request says of its items, whether a server or a use case refused it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

_WRONG_ITEM = re.compile(r"items(?:\[(\d+)\]|\.(\d+))")


class Fault(Protocol):
    """A wrong field, what is wrong with it, and the fix."""

    @property
    def field(self) -> str: ...  # noqa: D102

    @property
    def problem(self) -> str: ...  # noqa: D102

    @property
    def fix(self) -> str: ...  # noqa: D102


def wrong_items(faults: Sequence[Fault], count: int) -> dict[int, str]:
    """Return the reasons by the item's index in a request of so many items."""
    wrong: dict[int, list[str]] = {}
    for fault in faults:
        if (match := _WRONG_ITEM.match(fault.field)) and (n := int(match[1] or match[2])) < count:
            subfield = fault.field[match.end() :].lstrip(".")
            message = f"{fault.problem}. {fault.fix}"
            wrong.setdefault(n, []).append(f"{subfield}: {message}" if subfield else message)
    return {n: "; ".join(reasons) for n, reasons in sorted(wrong.items())}


def is_about_number(faults: Sequence[Fault]) -> bool:
    """Return whether all that is wrong is the number of items."""
    return {fault.field for fault in faults} == {"items"}
