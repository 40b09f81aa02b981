"""A memory behind the interfaces of agent frameworks, one module for each; import it by its name.

Each module needs the framework, which an extra of the same name installs:
``pip install 'cognigraph-memory[langgraph]'``.
"""
