"""VICW's read path. Start at ``api.py``, then ``pipeline.py``."""
