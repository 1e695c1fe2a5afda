"""How fast a server answers and stores."""
