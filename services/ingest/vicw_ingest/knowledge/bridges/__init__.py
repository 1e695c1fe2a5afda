"""Bridges: edges between pages and the memories that they describe or govern, or that implement them."""
