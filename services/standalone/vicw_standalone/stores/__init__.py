"""The stores that operations work on: those of this process, of a closed data directory, or of a platform."""
