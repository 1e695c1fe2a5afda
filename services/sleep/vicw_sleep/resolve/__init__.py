"""Entity resolution merges one entity known under two names, given more evidence than the names (docs/sleep.md)."""
