"""For coding assistants: our commands as tools (MCP), and a skill that says how to use them."""
