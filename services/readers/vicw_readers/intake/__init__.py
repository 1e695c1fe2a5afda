"""What is known of a file before a reader has it, and where its bytes come from."""
