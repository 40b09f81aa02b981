"""Draw the pictures of the README and the docs: ``python -m docs.draw``."""

from docs.draw import pictures

for path, text in pictures().items():
    path.write_text(text, "utf-8")
