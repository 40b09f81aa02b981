"""Routes that ask a question: search, context, why, and Cypher."""

from __future__ import annotations

from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from cognigraph.cypher import named_queries
from cognigraph.loop.data import Answer
from cognigraph.model import Context, Explanation, SearchResult
from cognigraph.server.access import Readable, grant_of, memory_of
from cognigraph.server.bodies import AskBody, ContextBody, CypherBody, SearchBody, WhyBody
from cognigraph.server.brief import brief, brief_context
from cognigraph.server.documents import described, document, schema_of
from cognigraph.server.long_work import Report, run_long
from cognigraph.space import Space
from cognigraph.tracing import span, stages

router = APIRouter(tags=["questions"])


@router.post("/search", responses=described(schema_of(SearchResult)))
def search(request: Request, space: Readable, body: SearchBody) -> Response:
    """Find the messages most relevant to a question, best first, each with its reasons."""
    with span("cognigraph.search", space.name) as current:
        result = space.search(**body.arguments(memory_of(request).settings))
        stages(current, "cognigraph.search", result.trace.timings)
    return document(brief(result))


@router.post("/context", responses=described(schema_of(Context)))
async def context(request: Request, space: Readable, body: ContextBody) -> Response:
    """Build a prompt block with what is known about a question."""

    arguments = body.arguments(memory_of(request).settings)

    def work(report: Report | None = None) -> Context:
        with span("cognigraph.context", space.name):
            return brief_context(space.context(**arguments))

    if body.strategy is not None:  # asks the model in several rounds
        return await run_long(request, work)
    return document(await to_thread.run_sync(work))


@router.post("/ask", responses=described(schema_of(Answer)))
async def ask(request: Request, space: Readable, body: AskBody) -> Response:
    """Answer a question with the memory's model, in several rounds of searching.

    With `Accept: text/event-stream` each round is an event `progress`. Without a model the answer
    is empty, and `context` has the block. The operator of the server pays for the model.
    """
    if body.repair == "apply":
        grant_of(request).check("write", space.name)
    arguments = body.arguments(memory_of(request).settings)
    return await run_long(request, lambda report: _ask(space, arguments, report))


def _ask(space: Space, arguments: dict[str, Any], report: Report) -> Answer:
    with span("cognigraph.ask", space.name):
        return space.ask(**arguments, on_round=report)


@router.post("/why", responses=described(schema_of(Explanation)))
def why(request: Request, space: Readable, body: WhyBody) -> Response:
    """Explain why a message is found for a question, or is not."""
    explanation = space.why(**body.arguments(memory_of(request).settings))
    return document(explanation)


@router.post("/cypher", responses=described(dict[str, list[dict[str, object]]]))
def cypher(space: Readable, body: CypherBody) -> Response:
    """Run a read-only Cypher query that sees only this space."""
    rows = space.cypher(
        body.query,
        name=body.name,
        limit=body.limit,
        timeout=body.timeout,
        parameters=body.parameters,
    )
    return document({"rows": rows})


@router.get("/cypher", responses=described(dict[str, object]))
def queries(space: Readable) -> Response:
    """List the queries that come with cognigraph."""
    found = [
        {"name": query.name, "what": query.what, "parameters": query.parameters}
        for query in named_queries().values()
    ]
    return document({"items": found})
