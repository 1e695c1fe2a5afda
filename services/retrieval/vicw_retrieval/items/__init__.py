"""Reading what is stored: items in pages, and one item with everything that is known of it."""
