"""Copy whole spaces: to a file, from a file, and from one space to another."""

from __future__ import annotations

from pathlib import Path

from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.new_file import new_file
from cognigraph.operations.exporting import lines
from cognigraph.operations.restoring import Import

_HEADER = b'{"kind": "export"'


def export(engine: Engine, space: str, path: Path, *, derived: bool) -> int:
    """Write a space to a new file; see :meth:`cognigraph.Space.export_space`."""
    count = 0
    with new_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines(engine, space, derived=derived):
            count += line.startswith('{"kind": "message"')
            file.write(line)
    return count


def restore(engine: Engine, space: str, path: Path) -> int:
    """Read a space from a file; see :meth:`cognigraph.Space.import_space`."""
    try:
        with path.open(encoding="utf-8") as file:
            return Import(engine, space).run(file)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path} is not an export: it is not UTF-8") from error


def copy(engine: Engine, space: str, to: str) -> int:
    """Copy a space with all that was read out of it; return the number of messages."""
    return Import(engine, to).run(lines(engine, space, derived=True))


def is_export(path: str | Path) -> bool:
    """Whether a file begins as :func:`export` begins it."""
    try:
        with Path(path).expanduser().open("rb") as stream:
            return stream.read(len(_HEADER)) == _HEADER
    except (OSError, ValueError):
        return False
