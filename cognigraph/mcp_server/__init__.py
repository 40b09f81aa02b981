"""The MCP server: a memory as tools, resources and prompts for agents.

``cognigraph mcp`` runs it; :mod:`cognigraph.mcp_server.build` makes it. It needs the extra ``mcp``.
"""
