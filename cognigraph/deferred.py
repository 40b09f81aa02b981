"""Names of a package that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING would take as long as all else that a hook imports
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def deferred(package: str) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package, which lists such names once: for type checkers.

    They are what the package imports in its block ``if TYPE_CHECKING:``. The block is read when the
    first of them is used.
    """
    module_of: dict[str, str] = {}

    def get(name: str) -> Any:
        if not module_of:
            module_of.update(_imports_for_types(package))
        if name == "__all__":
            return sorted(module_of)
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module  # not for those who only import the package

        value = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _imports_for_types(package: str) -> dict[str, str]:
    """The names that a package imports for type checkers only, with their modules."""
    import ast
    from pathlib import Path

    source = Path(str(sys.modules[package].__file__)).read_text("utf-8")
    block = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
