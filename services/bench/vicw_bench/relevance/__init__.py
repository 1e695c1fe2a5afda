"""Measures and fits relevance: does the figure of an answer tell whether its evidence is stored."""
