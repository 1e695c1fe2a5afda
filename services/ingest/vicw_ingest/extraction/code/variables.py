"""Local variables of known class: bound once in their function, to a new instance of a class of the text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from vicw_ingest.extraction.code.model import SymbolKind
from vicw_ingest.extraction.code.parser import Parsed
from vicw_ingest.extraction.code.symbols import SymbolScope, owners

_TYPES = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.TYPE})
_MAX_BOUND = 2_000
"""Maximum bytes of a binding. With a longer one, the class of every variable is unknown."""
_UNKNOWN = ""
_OUTSIDE = ("nonlocal ", "global ")
_WORD = re.compile(r"[\w$]+")
type Resolve = Callable[[str, SymbolScope | None], tuple[str | None, str | None]]


class Variables:
    """The variables of a text by the frames that they are bound in."""

    def __init__(self, parsed: Parsed, frames: Sequence[SymbolScope], resolve: Resolve) -> None:
        types = {frame.qualified for frame in frames if frame.kind in _TYPES}
        self._bound = bound = _bound(parsed, frames)
        made = sorted(
            (found["variable"][0].start_byte, parsed.name(found["variable"][0]), parsed.name(found["made"][0]))
            for found in parsed.matches
            if "variable" in found and "made" in found
        )
        self._types: dict[tuple[SymbolScope | None, str], tuple[int, str]] = {}
        for (start, variable, written), frame in zip(
            made, owners(frames, [start for start, _, _ in made]), strict=True
        ):
            target, _ = resolve(written, frame)
            if target is not None and target in types and bound[frame][variable] == 1 and not bound[frame][_UNKNOWN]:
                self._types[frame, variable] = start, target

    def type_of(self, variable: str, frame: SymbolScope | None, place: int) -> str | None:
        """Return the qualified name of a variable's class where that is certain at this byte."""
        start, target = self._types.get((frame, variable), (0, None))
        return target if start < place else None

    def binds(self, name: str, frame: SymbolScope | None) -> bool:
        """Return whether a name may be bound as a variable in this frame."""
        return bool(self._bound[frame][name] or self._bound[frame][_UNKNOWN])


def _bound(parsed: Parsed, frames: Sequence[SymbolScope]) -> defaultdict[SymbolScope | None, Counter[str]]:
    """Count the bindings of each name per frame; other names in a binding (types, defaults) count, too."""
    places = sorted({(node.start_byte, node.end_byte) for found in parsed.matches for node in found.get("bound", ())})
    counts: defaultdict[SymbolScope | None, Counter[str]] = defaultdict(Counter)
    for (start, end), frame in zip(places, owners(frames, [start for start, _ in places]), strict=True):
        written = parsed.written(start, min(end, start + _MAX_BOUND))
        names = _WORD.findall(written) if end - start <= _MAX_BOUND else [_UNKNOWN]
        counts[frame].update(names)
        outer = frame
        while outer is not None and written.startswith(_OUTSIDE):  # this frame may rebind it
            outer = outer.container
            counts[outer].update(names)
    return counts
