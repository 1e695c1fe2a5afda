"""What source code contains, by grammars: symbols, imports, calls, bases."""
