"""Which messages a search considers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cognigraph.errors import ConfigurationError
from cognigraph.model.roles import DEFAULT_ROLES, RoleFilter

Scalar = str | int | float | bool | None
_ALL_ROLES = (*DEFAULT_ROLES, "system", "tool")
MOST_CONDITIONS = 100
"""The largest number of tags, and of fields of metadata, that a message must have."""
MOST_NAMES = 100_000
"""The largest number of sessions, and of speakers, of which any will do."""


_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which messages a search considers; those that pass all conditions.

    It is applied while candidates are gathered, so a search returns ``k`` messages if as many pass.

    - ``roles``: any of these roles; ``"person"`` is for messages without a role. By default
      messages of the system and of tools are left out.
    - ``session``, ``speaker``: one name, or several of which any will do.
    - ``tags``: a message must have all of them.
    - ``since``, ``until``: when it was said: at ``since`` or later, and before ``until`` (aware
      datetimes or ISO 8601 strings), so that the days of a month follow each other without overlap.
    - ``metadata``: fields of the message's metadata, each equal to the given text, number, truth
      value or ``None``.
    """

    roles: Iterable[RoleFilter] = DEFAULT_ROLES
    session: str | Iterable[str] | None = None
    speaker: str | Iterable[str] | None = None
    tags: Iterable[str] = ()
    since: datetime | str | None = None
    until: datetime | str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("roles", "session", "speaker", "tags"):
            object.__setattr__(self, name, _texts(name, getattr(self, name)))
        for role in self.roles:
            if role not in _ALL_ROLES:
                raise ConfigurationError(
                    f"filter.roles must be some of {', '.join(_ALL_ROLES)}, not {role!r}"
                )
        if not self.roles:
            raise ConfigurationError("filter.roles must name at least one role")
        if not isinstance(self.metadata, Mapping):
            raise ConfigurationError("filter.metadata must be a mapping (such as a dict)")
        _check_number("metadata", len(self.metadata))
        for name, value in self.metadata.items():
            if not isinstance(name, str):
                raise ConfigurationError(f"filter.metadata has the field {name!r}; give a string")
            if value is not None and not isinstance(value, str | int | float):
                raise ConfigurationError(
                    f"filter.metadata[{name!r}] must be a text, a number, True, False or None"
                )
        object.__setattr__(self, "metadata", dict(self.metadata))

    @property
    def is_narrow(self) -> bool:
        """Whether anything but roles is a condition."""
        others = (self.session, self.speaker, self.tags, self.since, self.until, self.metadata)
        return any(others)

    @property
    def latest(self) -> datetime | None:
        """The last moment before ``until``; times are stored to the microsecond."""
        if not isinstance(self.until, datetime):
            return None
        return (
            self.until - _MOMENT if self.until.replace(tzinfo=None) > datetime.min else self.until
        )

    @property
    def sessions(self) -> tuple[str, ...]:
        """The sessions of which any will do; empty for all."""
        return tuple(self.session or ())

    @property
    def speakers(self) -> tuple[str, ...]:
        """The speakers of whom any will do; empty for all."""
        return tuple(self.speaker or ())


def _check_number(name: str, number: int) -> None:
    most = MOST_CONDITIONS if name in ("tags", "metadata") else MOST_NAMES
    if number > most:
        raise ConfigurationError(f"filter.{name} has {number:,} items; the most is {most:,}")


def _texts(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, Iterable) or isinstance(texts, bytes | Mapping):
        raise ConfigurationError(f"filter.{name} must be a string or several strings")
    found = tuple(texts)
    if not all(isinstance(text, str) for text in found):
        raise ConfigurationError(f"filter.{name} must be a string or several strings")
    _check_number(name, len(found))
    return tuple(dict.fromkeys(found))
