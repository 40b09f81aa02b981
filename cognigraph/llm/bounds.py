"""Limits on HTTP replies from an endpoint: size, compression and origin.

An endpoint may be hostile or broken. These limits are enforced while a reply arrives, as event
hooks of the HTTP client, so they hold for answers, error pages and redirects alike, with or
without a proxy:

- A body is decompressed here, chunk by chunk, and never beyond the limit. A small gzip file that
  expands to a gigabyte is rejected after the first few megabytes. Encodings that were not requested
  (br, zstd, several on top of each other) are rejected unread.
- Requests go only to the scheme, host and port of the base URL. A redirect within that origin is
  followed; one to another origin is rejected before anything is sent there.

The HTTP library limits headers (100 KB); :mod:`cognigraph.llm.endpoint` limits time.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import httpx

MAX_REPLY_BYTES = 4_000_000
"""Default limit on a reply. The longest answers of current models are under one megabyte."""

ENCODINGS = "gzip, deflate"
MAX_REDIRECTS = 3
_AUTOMATIC = 32 + zlib.MAX_WBITS  # accepts both the gzip and the zlib header
_ZLIB_METHOD = 8

max_bytes: ContextVar[int] = ContextVar("max_bytes", default=MAX_REPLY_BYTES)
"""Limit on the reply to the current request, in bytes."""


class UnsafeReplyError(Exception):
    """A reply is too large, wrongly compressed, or a redirect to another origin; it is unused."""

    def __init__(self, kind: Literal["size", "redirect", "connection"], reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Bounds:
    """HTTP client event hooks that enforce the limits for one base URL."""

    base_url: str

    async def check_request(self, request: httpx.Request) -> None:
        """Reject a request to another origin than that of the base URL.

        Raises:
            UnsafeReplyError: a redirect leads to another scheme, host or port.
        """
        import httpx

        if _origin(request.url) != _origin(httpx.URL(self.base_url)):
            scheme, host, port = _origin(request.url)
            where = f"{scheme}://{host}" + (f":{port}" if port else "")
            raise UnsafeReplyError(
                "redirect",
                f"it redirects to another server, {where}; nothing was sent there",
            )

    async def bound_response(self, response: httpx.Response) -> None:
        """Replace the body by a stream that decompresses it and stops at the limit.

        Raises:
            UnsafeReplyError: it has a content encoding that was not requested.
        """
        encoding = response.headers.get("content-encoding", "").strip().lower()
        unpack = _unpacker(encoding)
        response.headers.pop("content-encoding", None)
        response.encoding = "utf-8"  # as JSON requires; some other codecs take quadratic time
        response.stream = _bounded_stream(response.stream, unpack, max_bytes.get())


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port; the default port of a scheme is ``None``."""
    return url.scheme, url.host, url.port


def _bounded_stream(source: Any, unpack: _Plain | _Unpacker, limit: int) -> httpx.AsyncByteStream:
    import httpx

    class BoundedStream(httpx.AsyncByteStream):
        """The decompressed body; reading it raises an error beyond the limit."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = produced = 0
            async for packed in source:
                received += len(packed)
                data = unpack(packed, limit - produced + 1)
                produced += len(data)
                # Compressed input can be endless without producing any output.
                if max(received, produced) > limit:
                    raise UnsafeReplyError("size", f"its reply is larger than {limit:,} bytes")
                yield data
            unpack.finish()

        async def aclose(self) -> None:
            await source.aclose()

    return BoundedStream()


class _Plain:
    """Passes an uncompressed body through."""

    def __call__(self, data: bytes, most: int) -> bytes:
        return data

    def finish(self) -> None:
        pass


class _Unpacker:
    """Decompresses gzip or deflate; data after the end of the compressed stream is ignored."""

    def __init__(self, *, may_be_raw: bool) -> None:
        self._may_be_raw = may_be_raw
        self._inflate: Any = None

    def __call__(self, data: bytes, most: int) -> bytes:
        """The next bytes, at most ``most``; the rest is lost, so the caller must then stop."""
        if not data or (self._inflate is not None and self._inflate.eof):
            return b""
        if self._inflate is None:
            raw = self._may_be_raw and data[0] & 0x0F != _ZLIB_METHOD
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS if raw else _AUTOMATIC)
        try:
            return bytes(self._inflate.decompress(data, most))
        except zlib.error as error:
            reason = f"its reply cannot be decompressed: {error}"
            raise UnsafeReplyError("connection", reason) from None

    def finish(self) -> None:
        """Check that the compressed stream is complete."""
        if self._inflate is not None and not self._inflate.eof:
            raise UnsafeReplyError("connection", "its compressed reply is truncated")


def _unpacker(encoding: str) -> _Plain | _Unpacker:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Unpacker(may_be_raw=encoding == "deflate")
    raise UnsafeReplyError(
        "connection", f"its reply is encoded as {encoding[:40]!r}, which was not requested"
    )
