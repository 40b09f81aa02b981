"""Turn the reStructuredText roles of docstrings into plain code for the API reference."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data|exc):`~?\.?([\w.]+)`")


def plain(text: str) -> str:
    """``:class:`~cognigraph.llm.Model``` becomes the name in code, without its package."""
    return _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", text)


class PlainRoles(Extension):
    """Rewrites each docstring once it is loaded."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = plain(obj.docstring.value)
