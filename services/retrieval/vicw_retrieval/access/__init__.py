"""Access control: the scope of a request, the identity of its viewer, and which nodes and edges that viewer may see."""
