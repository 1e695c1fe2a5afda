"""Ranking maths: pure, one formula a module, inputs never mutated."""
