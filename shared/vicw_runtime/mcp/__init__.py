"""How an agent reaches a memory: the MCP server, a door to the same use cases as the HTTP API."""
