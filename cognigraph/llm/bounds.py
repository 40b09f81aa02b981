"""Bounds on what an endpoint may send: how large a reply is, how it is packed, where it comes from.

An endpoint may be hostile or broken. These limits are enforced while a reply arrives, as event
hooks of the HTTP client, so they hold for answers, error pages and redirects alike, with or
without a proxy:

- A body is unpacked here, piece by piece, and never beyond its limit. A small gzip file that
  unpacks to a gigabyte is refused after the first few megabytes. Encodings that were not asked for
  (br, zstd, several on top of each other) are refused unread.
- A request goes to the scheme, host and port of the base URL and nowhere else. A redirect within
  that origin is followed; one that leads out of it is refused before anything is sent there.

Headers are bounded by the HTTP library (100 KB), time by :mod:`cognigraph.llm.endpoint`.
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
"""The largest reply by default. The longest answers of today's models are under one megabyte."""

ENCODINGS = "gzip, deflate"
MAX_REDIRECTS = 3
_AUTOMATIC = 32 + zlib.MAX_WBITS  # reads both the gzip and the zlib header
_ZLIB_METHOD = 8

max_bytes: ContextVar[int] = ContextVar("max_bytes", default=MAX_REPLY_BYTES)
"""The largest reply to the request that is being made."""


class UnsafeReplyError(Exception):
    """A reply, or where it would lead, is out of bounds; nothing of it is used."""

    def __init__(self, kind: Literal["size", "redirect", "connection"], reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Bounds:
    """Event hooks of an HTTP client for one base URL."""

    base_url: str

    async def check_request(self, request: httpx.Request) -> None:
        """Refuse a request that leaves the origin of the base URL.

        Raises:
            UnsafeReplyError: a redirect led to another scheme, host or port.
        """
        import httpx

        if _origin(request.url) != _origin(httpx.URL(self.base_url)):
            scheme, host, port = _origin(request.url)
            where = f"{scheme}://{host}" + (f":{port}" if port else "")
            raise UnsafeReplyError(
                "redirect",
                f"it redirects to another server, {where}, to which nothing was sent",
            )

    async def bound_response(self, response: httpx.Response) -> None:
        """Let the body be read unpacked and no further than its limit.

        Raises:
            UnsafeReplyError: it is packed in a way that was not asked for.
        """
        encoding = response.headers.get("content-encoding", "").strip().lower()
        unpack = _unpacker(encoding)
        response.headers.pop("content-encoding", None)
        response.encoding = "utf-8"  # JSON is; some other codecs take quadratic time
        response.stream = _bounded_stream(response.stream, unpack, max_bytes.get())


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port; a default port is ``None``."""
    return url.scheme, url.host, url.port


def _bounded_stream(source: Any, unpack: _Plain | _Unpacker, limit: int) -> httpx.AsyncByteStream:
    import httpx

    class BoundedStream(httpx.AsyncByteStream):
        """A body, unpacked, that fails when it is longer than it may be."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = produced = 0
            async for packed in source:
                received += len(packed)
                data = unpack(packed, limit - produced + 1)
                produced += len(data)
                # Packed data may be endless and still produce nothing.
                if max(received, produced) > limit:
                    raise UnsafeReplyError("size", f"its reply is larger than {limit:,} bytes")
                yield data
            unpack.finish()

        async def aclose(self) -> None:
            await source.aclose()

    return BoundedStream()


class _Plain:
    """A body that is not packed."""

    def __call__(self, data: bytes, most: int) -> bytes:
        return data

    def finish(self) -> None:
        pass


class _Unpacker:
    """A body packed by gzip or deflate; what follows the end of the packed data is ignored."""

    def __init__(self, *, may_be_raw: bool) -> None:
        self._may_be_raw = may_be_raw
        self._inflate: Any = None

    def __call__(self, data: bytes, most: int) -> bytes:
        """The next bytes, at most so many; if it could be more, the caller stops reading."""
        if not data or (self._inflate is not None and self._inflate.eof):
            return b""
        if self._inflate is None:
            raw = self._may_be_raw and data[0] & 0x0F != _ZLIB_METHOD
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS if raw else _AUTOMATIC)
        try:
            return bytes(self._inflate.decompress(data, most))
        except zlib.error as error:
            raise UnsafeReplyError("connection", f"its reply cannot be unpacked: {error}") from None

    def finish(self) -> None:
        """Check that the packed data came to its end."""
        if self._inflate is not None and not self._inflate.eof:
            raise UnsafeReplyError("connection", "its packed reply ends too early")


def _unpacker(encoding: str) -> _Plain | _Unpacker:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Unpacker(may_be_raw=encoding == "deflate")
    raise UnsafeReplyError(
        "connection", f"its reply is packed as {encoding[:40]!r}, which was not asked for"
    )
