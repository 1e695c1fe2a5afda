"""Entity resolution by people: list, propose as duplicates, merge, split and rename named entities."""
