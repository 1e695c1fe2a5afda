"""Measures a memory on data: how much of the evidence it finds, and how fast (see ``docs/bench.md``)."""
