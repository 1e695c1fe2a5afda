"""VICW's write path. Start at ``api.py``, then ``pipeline.py``."""
