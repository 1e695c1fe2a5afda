"""What a question is about and what it is for; and what that means for the read path.

Rules, no LLM (design section "Read path"; seeds 002 §8.2 and 003 §3.2).
"""
