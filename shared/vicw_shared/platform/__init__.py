"""Common parts of the platform's separate services: the engines they open and their application."""
