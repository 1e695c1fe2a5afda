"""What could not be indexed or extracted: list it, and retry it."""
