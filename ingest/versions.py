"""Parse and compare recorded extractor names: family, version, detail (``model-1.2:gpt-4o-mini``).

The detail plays no part in comparisons: another model is not a newer version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from cognigraph.errors import ConfigurationError

_NAME = re.compile(r"(?P<family>.+?)-v?(?P<version>\d+(?:\.\d+)*)", re.DOTALL)
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)")

Version = tuple[int, ...]


def parse(name: str) -> tuple[str, Version]:
    """Family and version of a name; without a number the version is ``()``, the oldest of all."""
    head = name.partition(":")[0]
    match = _NAME.fullmatch(head)
    if match is None:
        return head, ()
    return match["family"], _numbers(match["version"])


def older(recorded: Iterable[str], than: str | int | None, current: str) -> list[str]:
    """The recorded names that are older than a version.

    ``than`` is a version in the family of ``current``, a name with a version, or ``None`` for all
    names. Only versions of the same family are compared; names of other families are left out.

    Raises:
        ConfigurationError: ``than`` is neither a version nor a name with one.
    """
    names = sorted(recorded)
    if than is None:
        return names
    bare = _VERSION.fullmatch(str(than).strip())
    if bare is not None:
        family, version = parse(current)[0], _numbers(bare[1])
    else:
        family, version = parse(str(than).strip())
        if not version:
            raise ConfigurationError(
                f"older_than must be a version such as 2, or a name with a version such as "
                f"'rules-2', not {than!r}"
            )
    return [name for name in names if parse(name)[0] == family and parse(name)[1] < version]


def _numbers(text: str) -> Version:
    return tuple(int(part) for part in text.split("."))
