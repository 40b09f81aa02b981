"""Create a file that must not exist yet: it appears under its name only once it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from cognigraph.errors import StoreError


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Create an empty file that only its owner may read, to be written inside the block.

    It has another name in the same folder until the block ends, so that a process that is killed
    leaves nothing under the name of the file. What it leaves ends in ``.part``.

    Raises:
        StoreError: the file exists already, or cannot be created or written.
    """
    part = path.with_name(f"{path.name}.{token_hex(4)}.part")
    try:
        if path.exists():
            raise FileExistsError
        part.touch(0o600, exist_ok=False)
        try:
            yield part
            _flush(part)
            _name(part, path)
        finally:
            part.unlink(missing_ok=True)
        _flush(path.parent)
    except FileExistsError:
        raise StoreError(f"{path} exists already; give the name of a new file") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error


def _name(part: Path, path: Path) -> None:
    """Give a file its name, unless another one has it meanwhile."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError from None
        part.rename(path)


def _flush(path: Path) -> None:
    """Make a file, or the names in a folder, survive a power failure."""
    with suppress(PermissionError):  # Windows cannot open a folder
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
