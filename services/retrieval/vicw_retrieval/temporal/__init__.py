"""Times and events that a question refers to, and their effect on items."""
