"""Dreams add auto-tags to items with too few tags, which joins similar memories."""
