"""JSON responses for data that may hold text which is not valid Unicode."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse


class AnyTextResponse(JSONResponse):
    """JSON in UTF-8; with lone surrogates, which a raw payload may have, in ASCII with escapes."""

    def render(self, content: Any) -> bytes:
        """Encode the content."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
