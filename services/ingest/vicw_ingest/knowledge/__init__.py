"""Knowledge folders: pages, what they link to, and what they tell of memories (seed 002 §4)."""
