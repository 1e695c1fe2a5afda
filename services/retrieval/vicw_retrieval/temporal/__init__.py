"""When a question asks about: its times and events, and what they make of items."""
