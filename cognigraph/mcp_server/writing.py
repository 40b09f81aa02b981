"""The tools that change a memory."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from cognigraph.errors import NotFoundError
from cognigraph.mcp_server.arguments import Fact, InSession, MemoryId, Time
from cognigraph.mcp_server.outputs import AddOutput, DeleteOutput, Remembered
from cognigraph.model import DEFAULT_SESSION, Role
from cognigraph.space import Space


class WritingTools:
    """The tools that change one space."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def add_memory(
        self,
        text: Annotated[
            str,
            Field(
                description="What was said, in the words in which it was said. It must be clear "
                "without the rest of the conversation: names instead of pronouns."
            ),
        ],
        session: Annotated[
            str, Field(description="An id of this conversation, the same for all its memories.")
        ] = DEFAULT_SESSION,
        speaker: Annotated[str | None, Field(description="The name of who said it.")] = None,
        role: Annotated[
            Role | None, Field(description="The role of the speaker; none for a third person.")
        ] = None,
        at: Annotated[Time | None, Field(description="When it was said; now if absent.")] = None,
        id: Annotated[
            str | None,
            Field(description="An id of your own: adding the same id and text changes nothing."),
        ] = None,
        metadata: Annotated[
            dict[str, Any] | None, Field(description="Fields to be kept with it.")
        ] = None,
        expires: Annotated[
            Time | None, Field(description="When it is to be forgotten; never if absent.")
        ] = None,
        facts: Annotated[
            list[Fact] | None,
            Field(description="What the text says. Leave it out if you have not looked for facts."),
        ] = None,
        session_summary: Annotated[
            str | None, Field(description="Two or three sentences on this conversation so far.")
        ] = None,
    ) -> AddOutput:
        """Store something worth remembering: what the user says about themselves, other people,
        preferences, decisions, plans and dates, and what you promised. It can be found at once.
        Store what was said, not a summary of it. You understand it better than the memory does, so
        put what it says into `facts`: only what is certain, one {subject, relation, object} each,
        with names instead of pronouns. If one takes the place of an earlier fact, name that fact's
        object in `replaces`; the old one stays in the history. Do not store passwords, or what
        get_context has returned."""
        result = self._space.add(
            text,
            session=session,
            speaker=speaker,
            role=role,
            at=at,
            id=id,
            metadata=metadata,
            expires=expires,
            facts=None if facts is None else [one.given() for one in facts],
            session_summary=session_summary,
        )
        return AddOutput(
            id=result.id,
            is_new=bool(result.new),
            is_forgotten=bool(result.forgotten),
            notes=list(result.notes),
        )

    def update_memory(
        self,
        id: MemoryId,
        text: Annotated[str, Field(description="The whole new text.")],
        session: InSession = None,
    ) -> Remembered:
        """Correct the text of a memory that was wrong when it was stored. Facts that only the old
        text states go. If something has changed since, add a new memory instead: the old one is
        then still right about its time."""
        return Remembered.of(self._space.update(id, text, session=session))

    def delete_memory(
        self,
        id: MemoryId,
        session: InSession = None,
        dry_run: Annotated[bool, Field(description="Only count what would be deleted.")] = False,
    ) -> DeleteOutput:
        """Delete a memory for good, with the facts that nothing else states. Use it only if the
        user asks for it. It cannot be undone, and the memory is not stored again."""
        report = self._space.forget(message=id, session=session, dry_run=dry_run)
        if not report:
            raise NotFoundError(f"there is no memory {id!r}; search_memories shows ids")
        return DeleteOutput(
            memories=report.messages,
            facts=report.triples,
            kept_facts=report.kept_triples,
            dry_run=report.dry_run,
        )
