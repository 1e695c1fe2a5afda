"""Filters on items: compiled from their wire form, and evaluated on one item."""
