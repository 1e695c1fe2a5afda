"""The second wave: everything that re-orders or extends the hits of the first."""
