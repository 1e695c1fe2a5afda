"""Prints ``.env.example``: ``python -m vicw_shared.settings > .env.example``."""

from vicw_shared.settings.document import render

print(render(), end="")
