"""What is read after a request, behind its back: the items that wait for a language model."""
