"""VICW's sleep cycle: maintenance jobs that keep the stores consistent, small and connected."""
