"""Fail if a built page would load anything from the network.

``python -m docs.rendering.offline site``
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\b(?:src|srcset)\s*=\s*[\"']?(?P<src>(?:https?:)?//[^\"'\s>]+)"
    r"|<link\b(?![^>]*\brel=[\"']?canonical)[^>]*?\bhref\s*=\s*[\"']?(?P<href>(?:https?:)?//[^\"'\s>]+)"
    r"|(?:@import\s+|url\()\s*[\"']?(?P<css>(?:https?:)?//[^\"'\s)]+)",
    re.IGNORECASE,
)


def loads(text: str) -> list[str]:
    """Addresses that a browser would fetch by itself when it shows this HTML or CSS."""
    return [found[0] for found in (tuple(filter(None, m.groups())) for m in _LOADS.finditer(text))]


def offending(site: Path) -> Iterator[str]:
    """Each such address with the page that has it."""
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        for address in loads(page.read_text("utf-8")):
            yield f"{page.relative_to(site)} loads {address}"


if __name__ == "__main__":
    problems = list(offending(Path(sys.argv[1])))
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    sys.exit(bool(problems))
