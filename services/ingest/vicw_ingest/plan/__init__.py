"""Plan stage: drafts, passages, flows and names of a request, the links of its extractions, and all nodes and edges."""
