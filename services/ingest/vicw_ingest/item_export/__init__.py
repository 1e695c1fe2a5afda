"""Export of items in the form in which they are ingested."""
