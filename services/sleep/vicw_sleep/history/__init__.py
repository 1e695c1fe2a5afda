"""What the sleep cycle did, when it runs next, and undo."""
