"""The analyser of words: what a text is found by, in both stores and in every channel (decision 0051)."""
