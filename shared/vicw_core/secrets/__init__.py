"""Secrets in a text: passwords, tokens and keys, found and masked."""
