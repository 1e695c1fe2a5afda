"""Knowledge folders: pages, their links, and their bridges to memories (seed 002 §4)."""
