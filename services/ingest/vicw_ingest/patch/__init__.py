"""Change of single fields of stored items (JSON Merge Patch, RFC 7396)."""
