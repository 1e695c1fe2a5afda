"""What keeps a token from being admitted."""

from __future__ import annotations


class BadTokenError(Exception):
    """A token that is not admitted; the text says why."""
