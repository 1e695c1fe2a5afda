"""HTML as people read it, without a parser that could be led astray: mail, pages, books and notes."""
