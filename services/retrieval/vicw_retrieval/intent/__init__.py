"""Domain and task of a question, and their effect on the read path.

Rules, no LLM (design section "Read path"; seeds 002 §8.2 and 003 §3.2).
"""
