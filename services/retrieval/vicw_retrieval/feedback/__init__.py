"""What people say of results: useful or wrong for a question."""
