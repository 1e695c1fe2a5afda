"""How much of a question's evidence a store finds."""
