"""Create a file that must not exist yet, and remove it again if it cannot be finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cognigraph.errors import StoreError


@contextmanager
def new_file(path: Path) -> Iterator[None]:
    """Create an empty file that only its owner may read, to be written inside the block.

    Raises:
        StoreError: the file exists already, or cannot be created or written.
    """
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        raise StoreError(f"{path} exists already; give the name of a new file") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        yield
    except BaseException as error:  # also an interruption: half a file would look like a whole one
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):  # such as a full disk
            raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
        raise
