"""Where it begins."""

import json
import sys


def tides(due):
    """Return the tide at a time."""
    return json.loads(sys.stdin.readline())[due]
