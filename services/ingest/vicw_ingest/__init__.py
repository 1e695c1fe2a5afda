"""Write path of VICW. Read ``api.py`` first, then ``pipeline.py``."""
