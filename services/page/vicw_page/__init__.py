"""The page: a small application for the browser over the public operations, served as files."""
