"""Reading what is stored: items in pages, one item with everything that is known of it, and counts."""
