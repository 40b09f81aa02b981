"""A small SVG canvas: boxes with wrapped text, arrows, labels; light and dark from one file."""

from __future__ import annotations

from html import escape
from textwrap import wrap

LINE = 16
"""Height of a line of text, in pixels."""

_STYLE = """\
text { font: 12.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2937 }
.strong { font-weight: 600 }
.faint { font-size: 11px; fill: #6b7280 }
.ground { fill: #ffffff; stroke: #e5e7eb }
.lane { fill: #f3f4f6; stroke: #d1d5db }
.session { fill: #e0e7ff; stroke: #6366f1 }
.message { fill: #ffffff; stroke: #9ca3af }
.fact { fill: #fef3c7; stroke: #d97706 }
.entity { fill: #d1fae5; stroke: #059669 }
.step { fill: #ffffff; stroke: #6366f1 }
.store { fill: #d1fae5; stroke: #059669 }
.edge { fill: none; stroke: #9ca3af; stroke-width: 1.4 }
.arrow { fill: #9ca3af }
@media (prefers-color-scheme: dark) {
  text { fill: #e5e7eb }
  .faint { fill: #9ca3af }
  .ground { fill: #111827; stroke: #374151 }
  .lane { fill: #1f2937; stroke: #374151 }
  .session { fill: #312e81; stroke: #818cf8 }
  .message { fill: #111827; stroke: #6b7280 }
  .fact { fill: #451a03; stroke: #d97706 }
  .entity { fill: #064e3b; stroke: #10b981 }
  .step { fill: #1f2937; stroke: #818cf8 }
  .store { fill: #064e3b; stroke: #10b981 }
  .edge { stroke: #6b7280 }
  .arrow { fill: #6b7280 }
}"""

_ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path class="arrow" d="M0 0 8 4 0 8z"/></marker>'
)


class Drawing:
    """Shapes in the order in which they are painted. Coordinates are pixels from the top left."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self._below: list[str] = []
        self._above: list[str] = []

    def panel(self, x: int, y: int, width: int, height: int, kind: str) -> None:
        """A background rectangle."""
        self._below.append(_rectangle(x, y, width, height, kind, 10))

    def box(
        self, x: int, y: int, width: int, lines: list[tuple[str, str]], kind: str, height: int = 0
    ) -> int:
        """A box with one ``(text, class)`` for each line; returns its height."""
        tall = height or len(lines) * LINE + 14
        top = y + (tall - len(lines) * LINE) // 2 + 12
        self._above.append(_rectangle(x, y, width, tall, kind, 7))
        for number, (text, kind_of_text) in enumerate(lines):
            self.text(x + width // 2, top + number * LINE, text, kind_of_text)
        return tall

    def text(
        self, x: int, y: int, text: str, kind: str = "", anchor: str = "middle", colour: str = ""
    ) -> None:
        """One line of text."""
        style = f' class="{kind}"' if kind else ""
        style += f' style="fill: {colour}"' if colour else ""
        self._above.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}"{style}>{escape(text)}</text>'
        )

    def edge(self, start: tuple[int, int], end: tuple[int, int], arrow: bool = True) -> None:
        """A curve from one point down (or up) to another."""
        (x1, y1), (x2, y2) = start, end
        middle = (y1 + y2) // 2
        self._path(f"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}", arrow)

    def line(self, start: tuple[int, int], end: tuple[int, int], arrow: bool = True) -> None:
        """A straight line."""
        self._path(f"M{start[0]} {start[1]}L{end[0]} {end[1]}", arrow)

    def curve(self, points: list[tuple[int, int]], colour: str) -> None:
        """A line of a plot."""
        path = "L".join(f"{x} {y}" for x, y in points)
        self._above.append(
            f'<path d="M{path}" fill="none" style="stroke: {colour}; stroke-width: 2"/>'
        )

    def dot(self, x: int, y: int, colour: str) -> None:
        """A point of a plot."""
        self._above.append(f'<circle cx="{x}" cy="{y}" r="6" style="fill: {colour}"/>')

    def _path(self, path: str, arrow: bool) -> None:
        marker = ' marker-end="url(#arrow)"' if arrow else ""
        self._below.append(f'<path class="edge" d="{path}"{marker}/>')

    def svg(self) -> str:
        """The whole file."""
        ground = _rectangle(0.5, 0.5, self.width - 1, self.height - 1, "ground", 12)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            f'aria-label="{escape(self.title)}">'
        )
        body = [f"<style>\n{_STYLE}\n</style>", f"<defs>{_ARROW}</defs>", ground]
        return "\n".join([head, *body, *self._below, *self._above, "</svg>\n"])


def wrapped(text: str, columns: int, kind: str = "") -> list[tuple[str, str]]:
    """Text broken into lines of at most so many characters."""
    return [(line, kind) for line in wrap(text, columns)]


def _rectangle(x: float, y: float, width: float, height: float, kind: str, radius: int) -> str:
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}"/>'
