"""Stack trace parsing: failures, their frames and their causes."""
