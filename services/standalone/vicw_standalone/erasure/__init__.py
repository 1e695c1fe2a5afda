"""``vicw forget``: an erasure over a data directory or a platform, and the proof that nothing is left in any file."""
