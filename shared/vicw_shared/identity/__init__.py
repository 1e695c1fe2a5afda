"""Who is who among named things: which may be one, and how two become one and two again (decision 0014)."""
