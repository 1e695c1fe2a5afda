"""Reading texts by a language model. Its answer is a proposal: all of it is checked before anything is stored."""
