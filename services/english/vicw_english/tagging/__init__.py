"""Tokens and parts of speech of English sentences: a linear model, with its weights."""
