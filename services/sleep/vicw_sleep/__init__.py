"""VICW's sleep cycle: maintenance jobs that keep the stores consistent, small and connected.

It serves nothing, so that its programs are the ``worker`` and its clock, the ``beat``.
"""
