"""Erasure by request, while everything serves."""
