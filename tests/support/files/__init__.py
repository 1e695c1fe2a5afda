"""Files of the formats that are imported, in words of our own."""
