"""Resources that a built page would load from the network are found; plain links are not."""

from __future__ import annotations

from pathlib import Path

from docs.rendering.offline import loads, offending
from tests.cases import each


@each(
    ("text", "found"),
    [
        ('<script src="https://unpkg.com/x.js"></script>', ["https://unpkg.com/x.js"]),
        ("<script defer src=//cdn.example/x.js></script>", ["//cdn.example/x.js"]),
        ('<link rel="stylesheet" href="https://fonts.googleapis.com/css?family=Roboto">',
         ["https://fonts.googleapis.com/css?family=Roboto"]),
        ('<img alt="a" src="http://img.shields.io/b.svg">', ["http://img.shields.io/b.svg"]),
        ('@import "https://a.example/b.css";', ["https://a.example/b.css"]),
        ("@font-face{src:url(https://fonts.gstatic.com/a.woff2)}", ["https://fonts.gstatic.com/a.woff2"]),
        ('<a href="https://zensical.org">a link</a>', []),
        ('<link rel="canonical" href="https://docs.example/">', []),
        ('<script src="assets/x.js"></script><img src="pictures/graph.svg">', []),
        ("<code>OPENAI_BASE_URL=http://localhost:11434/v1</code>", []),
        ('<rect style="fill:url(#shade)"/>', []),
    ],
)  # fmt: skip
def test_addresses_that_a_browser_fetches(text: str, found: list[str]) -> None:
    assert loads(text) == found


def test_the_page_is_named(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "a.html").write_text('<script src="https://x.example/y.js"></script>')
    (tmp_path / "fine.css").write_text("body { color: red }")
    assert list(offending(tmp_path)) == ["guide/a.html loads https://x.example/y.js"]
