"""Import of files: what is read becomes requests to store, and a report of what was read and what was not."""
