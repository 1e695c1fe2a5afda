"""Domain and task of a question, and their effect on the read path.

Rules, no LLM.
"""
