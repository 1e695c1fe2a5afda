"""Which ship lies where."""

from harbour.main import tides

from .retry import with_backoff


def allocate_berth(ship, berths):
    """Return the first berth that is deep enough when the ship comes."""
    depth = with_backoff(lambda: tides(ship.due))
    return next((berth for berth in berths if berth.depth + depth > ship.draught), None)
