"""Trying again, as ADR-7 says."""

import time


def with_backoff(call, tries=5):
    """Call until it answers, pausing twice as long each time."""
    for attempt in range(tries):
        try:
            return call()
        except OSError:
            time.sleep(2**attempt)
    return None
