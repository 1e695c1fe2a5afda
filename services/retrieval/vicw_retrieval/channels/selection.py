"""Selection of the channels of a request."""

from __future__ import annotations

from collections.abc import Sequence

from vicw_shared.errors import FieldProblem, InvalidInputError
from vicw_shared.settings import RetrievalSettings
from vicw_shared.wire.retrieve import Channel


def select_channels(
    named: Sequence[Channel] | None, settings: RetrievalSettings, *, vectors: bool
) -> tuple[Channel, ...]:
    """Return the channels that a caller has ``named``, by default all that have a weight; without vectors full text.

    Raises InvalidInputError if there are no vectors and only vector channels are named.
    """
    if vectors:
        weights = {Channel.FULLTEXT: settings.fulltext_weight}
        return tuple(named or (channel for channel in Channel if weights.get(channel, 1.0) > 0))
    if named and Channel.FULLTEXT not in named:
        problem = FieldProblem(
            "channels",
            f"{', '.join(named)}: there are no vectors here (VICW_EMBEDDER=none)",
            "Name fulltext, or no channel",
        )
        raise InvalidInputError(problem)
    return (Channel.FULLTEXT,)
