"""Never again: what comes back to memory out of memory is linked to where it stands (docs/decisions/0023)."""
