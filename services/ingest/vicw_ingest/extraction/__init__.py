"""Ways from a text to what it tells of. All give the wire's ``Extraction``."""
