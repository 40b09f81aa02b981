"""Names of a package that are imported when they are first used, so that importing it is quick."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING would take as long as all else that a hook imports
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def deferred(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package: ``modules`` maps its modules to names that they define.

    The names are separated by white space. Type checkers need the same imports under
    ``TYPE_CHECKING``.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module  # not for those who only import the package

        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
