"""Times as people write them, in several languages, each as an interval: one reader for texts and questions."""
