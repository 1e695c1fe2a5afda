"""What must not be stored."""
