"""The answer as an application takes it: a sub-graph, and text within the caller's budget."""
