"""Routes that ask a question: search, context, why, and Cypher."""

from __future__ import annotations

from fastapi import APIRouter, Response

from cognigraph.cypher import named_queries
from cognigraph.model import Context, Explanation, SearchResult
from cognigraph.server.access import Readable
from cognigraph.server.bodies import ContextBody, CypherBody, SearchBody, WhyBody
from cognigraph.server.documents import described, document, schema_of
from cognigraph.server.tracing import span, stages

router = APIRouter(tags=["questions"])


@router.post("/search", responses=described(schema_of(SearchResult)))
def search(space: Readable, body: SearchBody) -> Response:
    """Find the messages most relevant to a question, best first, each with its reasons."""
    with span("cognigraph.search", space.name) as current:
        result = space.search(**body.arguments())
        stages(current, "cognigraph.search", result.trace.timings)
    return document(result)


@router.post("/context", responses=described(schema_of(Context)))
def context(space: Readable, body: ContextBody) -> Response:
    """Build a prompt block with what is known about a question."""
    with span("cognigraph.context", space.name):
        return document(space.context(**body.arguments()))


@router.post("/why", responses=described(schema_of(Explanation)))
def why(space: Readable, body: WhyBody) -> Response:
    """Explain why a message is found for a question, or is not."""
    explanation = space.why(**body.arguments())
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
