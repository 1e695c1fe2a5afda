"""``vicw mcp``: an agent's standard input and output, joined to the MCP server of a running VICW."""
