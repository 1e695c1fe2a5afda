"""Titles before the names of people, in English."""

TITLES = frozenset(
    "mr mr. mrs mrs. ms ms. miss dr dr. doctor prof prof. professor sir lady lord king queen prince princess captain "
    "mistress master sergeant colonel general major lieutenant officer judge inspector president senator pastor "
    "reverend nurse aunt uncle father mother brother sister".split()
)
"""Titles in lower case."""
