"""The stores that commands and operations work on: opened in a data directory or on a platform."""
