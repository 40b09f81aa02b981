"""Write the figures of the committed results into the pages that quote them.

python bench/quote.py

A figure is written ``value<!-- file.json path/to/key -->``; its digits after the point and its sign
stay as they were written. The tests hold the pages to the files, this brings them there.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "bench" / "ABLATION.md")
FIGURE = re.compile(r"(?P<shown>[-+−]?[\d.,]+)<!-- (?P<file>\S+\.json) (?P<path>\S+) -->")


def value(file: str, path: str) -> float:
    """A number of a result file; ``path`` names keys and list places, joined by slashes."""
    found: Any = json.loads((ROOT / "bench" / "results" / file).read_text("utf-8"))
    for part in path.split("/"):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return float(found)


def written(number: float, like: str) -> str:
    """A number in the form of another: digits, thousands, sign, no zero before the point."""
    digits = len(like.partition(".")[2])
    text = f"{abs(number):,.{digits}f}"
    bare = like.lstrip("+-−")
    if bare.startswith(".") and text.startswith("0."):
        text = text[1:]
    zero = not float(text.replace(",", ""))
    signed = like[:1] in "+-−"
    if number < 0 and not zero:
        return "−" + text
    return "+" + text if signed and not zero else text


def main() -> None:
    """Rewrite the pages in place."""
    for page in PAGES:
        text = page.read_text("utf-8")
        fresh = FIGURE.sub(
            lambda found: (
                written(value(found["file"], found["path"]), found["shown"])
                + found[0][len(found["shown"]) :]
            ),
            text,
        )
        page.write_text(fresh, "utf-8")
        print(f"{page.relative_to(ROOT)}: {len(FIGURE.findall(text))} figures")


if __name__ == "__main__":
    main()
