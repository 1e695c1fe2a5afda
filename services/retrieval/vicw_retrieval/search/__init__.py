"""The first wave: the vector channels, and exact scores of each other's hits."""
