"""Adapters of the ports: one engine a module, named after the vendor."""
