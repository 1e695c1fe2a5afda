"""What the commands of several features share: the client of a server, Ctrl-C, refused items."""
