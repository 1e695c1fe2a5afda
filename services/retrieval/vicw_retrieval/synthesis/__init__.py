"""Building of the answer: a sub-graph, and text within the budget."""
