"""What a question is about, what it is for and which form it has; and what that means for the read path.

Rules and prototype vectors, no LLM (design section "Read path"; seeds 002 §8.2 and 003 §3.2).
"""
