"""``vicw doctor``: problems of a machine, its settings and its data, and how to fix them."""
