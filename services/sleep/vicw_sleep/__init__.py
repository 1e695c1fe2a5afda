"""VICW's sleep cycle: the jobs that keep the stores in agreement, and later small and connected."""
