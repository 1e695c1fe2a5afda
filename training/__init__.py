"""How the small models in the package are made; nothing here is part of it."""
