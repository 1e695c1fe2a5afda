"""Questions for a profile of a person ("What do you know about me?"), and the statements that answer them."""
