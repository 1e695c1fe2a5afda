"""Second wave: stages that re-order or extend the hits of the first."""
