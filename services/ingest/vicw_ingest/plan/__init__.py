"""The write plan: passages, drafts, flows and named entities of a request, and the nodes and edges built from them."""
