"""Forgetting for want of room: who has more items than may be kept loses what weighs least (docs/decisions/0031)."""
