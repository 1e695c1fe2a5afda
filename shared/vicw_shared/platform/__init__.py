"""What the services apart have in common: the engines they open, and the application they start from."""
