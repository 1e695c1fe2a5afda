"""Model files: where they are, what they say of themselves, and how they come here."""
