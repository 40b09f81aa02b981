"""Routes that ask a question: search, context, why, and Cypher."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from cognigraph.cypher import named_queries
from cognigraph.loop.data import Answer
from cognigraph.model import Context, Explanation, SearchResult
from cognigraph.plain_data import plain
from cognigraph.server.access import Readable, grant_of
from cognigraph.server.answers import answer, brief, described, document, schema_of
from cognigraph.server.bodies import Arguments, Explain, from_body
from cognigraph.server.chosen_fields import Fields, fields_of
from cognigraph.server.long_work import Report, run_long
from cognigraph.space import Space
from cognigraph.tracing import span, stages

router = APIRouter(tags=["questions"])


@router.post("/search", responses=described(schema_of(SearchResult)))
def search(
    space: Readable,
    given: Annotated[Arguments, from_body(Space.search)],
    fields: Annotated[Fields | None, fields_of(schema_of(SearchResult))],
    explain: Explain = False,
) -> Response:
    """Find the messages most relevant to a question, best first.

    With `explain`, in the query or the body, each hit has its reasons and the facts read out of
    it, and `trace` says how they were found. The answer is then about ten times as large.
    """
    with span("cognigraph.search", space.name) as current:
        result = space.search(**given)
        stages(current, "cognigraph.search", result.trace.timings)
    explain = explain or given.get("explain", False)
    return answer(result, explain=explain, fields=fields)


@router.post("/context", responses=described(schema_of(Context)))
async def context(
    request: Request,
    space: Readable,
    given: Annotated[Arguments, from_body(Space.context)],
    fields: Annotated[Fields | None, fields_of(schema_of(Context))],
    explain: Explain = False,
) -> Response:
    """Build a prompt block with what is known about a question.

    `citations` name the messages behind its lines. With `explain`, `hits` has the messages.
    """

    def work() -> Context:
        with span("cognigraph.context", space.name):
            return space.context(**given)

    if given.get("strategy") is not None:  # asks the model in several rounds
        chosen = plain if fields is None else fields.of
        return await run_long(request, lambda report: chosen(brief(work())))
    return answer(await to_thread.run_sync(work), explain=explain, fields=fields)


@router.post("/ask", responses=described(schema_of(Answer)))
async def ask(
    request: Request, space: Readable, given: Annotated[Arguments, from_body(Space.ask)]
) -> Response:
    """Answer a question with the memory's model, in several rounds of searching.

    With `Accept: text/event-stream` each round is an event `progress`. Without a model the answer
    is empty, and `context` has the block. The operator of the server pays for the model.
    """
    if given.get("repair") == "apply":
        grant_of(request).check("write", space.name)
    return await run_long(request, lambda report: _ask(space, given, report))


def _ask(space: Space, given: Arguments, report: Report) -> Answer:
    with span("cognigraph.ask", space.name):
        return space.ask(**given, on_round=report)


@router.post("/why", responses=described(schema_of(Explanation)))
def why(space: Readable, given: Annotated[Arguments, from_body(Space.why)]) -> Response:
    """Explain why a message is found for a question, or is not."""
    return document(space.why(**given))


@router.post("/cypher", responses=described(dict[str, list[dict[str, object]]]))
def cypher(space: Readable, given: Annotated[Arguments, from_body(Space.cypher)]) -> Response:
    """Run a read-only Cypher query that sees only this space."""
    return document({"rows": space.cypher(given.pop("query", None), **given)})


@router.get("/cypher", responses=described(dict[str, object]))
def queries(space: Readable) -> Response:
    """List the queries that come with cognigraph."""
    found = [
        {"name": query.name, "what": query.what, "parameters": query.parameters}
        for query in named_queries().values()
    ]
    return document({"items": found})
