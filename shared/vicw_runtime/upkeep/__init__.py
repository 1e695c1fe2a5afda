"""What the sleep cycle did, what comes next, undo, and what a comparison of the stores found, over HTTP."""
