"""``Overview``: what a space knows at large: profiles, sessions, episodes, procedures."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.model import (
    CoreProfile,
    EntityProfile,
    Episode,
    MessageVersion,
    Procedure,
    Session,
    Summary,
    Written,
)
from cognigraph.model.graph import newest_written
from cognigraph.operations import forgetting
from cognigraph.operations.facts import profile
from cognigraph.operations.tenant import Tenant
from cognigraph.validation import checked


class Overview(Tenant):
    """What a space knows at large, without a question."""

    @checked
    def sessions(
        self, limit: int = 100, offset: int = 0, *, as_of: datetime | str | None = None
    ) -> list[Session]:
        """List sessions with their keys and summaries, newest first.

        Args:
            limit: the largest number of sessions.
            offset: how many to leave out at the beginning.
            as_of: list sessions as far as they had gone at this time; one that went on later has
                the keys and summary of its newest revision written by then, if one is kept.
        """
        return self._engine.store.graph.sessions(
            self._name, limit=limit, offset=offset, as_of=self._utc(as_of)
        )

    @checked
    def summaries(self, session: str) -> list[Summary]:
        """List the stored revisions of a session's keys and summary, newest first.

        Args:
            session: the session.
        """
        return self._engine.store.graph.summaries(self._name, session)

    @checked
    def episodes(
        self, session: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[Episode]:
        """List episodes with the messages that they cover, the one that ended last first.

        An episode is a part of a session that is about one thing. Sessions that were enriched by a
        version without episodes have none until they are enriched again (``queue.redo``).

        Args:
            session: only the episodes of this session.
            limit: the largest number of episodes.
            offset: how many to leave out at the beginning.
        """
        return self._engine.store.graph.episodes(
            self._name, session=session, limit=limit, offset=offset
        )

    @checked
    def profile(
        self,
        entity: str,
        *,
        earlier: bool = False,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> EntityProfile:
        """Collect what is true of an entity, by slot, with its types and aliases.

        Facts of what is called its own ("Ann's rent") are included. Each has its sources and says
        since when it is true.

        Args:
            entity: a whole name or alias.
            earlier: also give the facts that are over.
            as_of: only what was known at this time.
            valid_at: what is true at this time, instead of now.

        Raises:
            NotFoundError: there is no entity of that name.
        """
        return profile(
            self._engine.store,
            self._name,
            entity,
            at=self._utc(valid_at) or self._utc(as_of) or self._engine.clock(),
            as_of=self._utc(as_of),
            earlier=earlier,
        )

    @checked
    def core_profile(self, version: int | None = None) -> CoreProfile | None:
        """Get the core profile: what is known of the user in general, as one text.

        It is kept by the writers (``extractor="membuilder"``); without them there is none.

        Args:
            version: which version, from 1; the newest if absent.
        """
        return _core_profile(self._engine.store.graph.written(self._name), version)

    @checked
    def procedures(self, *, versions: bool = False) -> list[Procedure]:
        """List how things are done, step by step, by title.

        Procedures are kept by the writers (``extractor="membuilder"``).

        Args:
            versions: list earlier versions, too.
        """
        written = self._engine.store.graph.written(self._name)
        return _procedures(written, versions=versions)

    @checked
    def versions(self, id: str, session: str | None = None) -> list[MessageVersion]:
        """List the texts of a message, oldest first; the last one is its present text.

        Args:
            id: the message's id.
            session: its session, if messages of several sessions have the id.

        Raises:
            NotFoundError: there is no such message.
        """
        return forgetting.versions(self._engine, self._name, self._message(id, session))


def _core_profile(written: Sequence[Written], version: int | None) -> CoreProfile | None:
    """The core profile in one version, by default the newest; ``None`` if there is none."""
    found = [
        CoreProfile(item.text, item.version, item.at, item.sources)
        for item in written
        if item.kind == "profile" and version in (None, item.version)
    ]
    return max(found, key=lambda item: item.version, default=None)


def _procedures(written: Sequence[Written], *, versions: bool) -> list[Procedure]:
    """Procedures by title, each in its newest version or in all of them, oldest first."""
    every = [item for item in written if item.kind == "procedure"]
    found = [
        Procedure(
            item.chain, item.title, item.steps, item.text, item.version, item.at, item.sources
        )
        for item in (every if versions else newest_written(written, "procedure"))
    ]
    return sorted(found, key=lambda item: (item.title, item.uid, item.version))
