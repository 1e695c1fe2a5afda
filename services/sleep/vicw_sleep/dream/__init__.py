"""Dreams add auto-tags to items with too few tags, which joins similar memories (seed 000, "Dreamer Service")."""
