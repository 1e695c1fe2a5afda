"""Dreams: what nobody has tagged gets tags, and memories that are alike are joined (seed 000, "Dreamer Service")."""
