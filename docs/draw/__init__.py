"""The pictures of the README and the docs, drawn by code so that they follow the engine."""

from __future__ import annotations

from pathlib import Path

from docs.draw import answer, diagrams, graph, load, peers

FOLDER = Path(__file__).resolve().parents[1] / "pictures"


def pictures() -> dict[Path, str]:
    """Every committed picture with what it should contain."""
    compared = peers.result()
    return {
        FOLDER / "answer.svg": answer.draw(),
        FOLDER / "graph.svg": graph.draw(),
        FOLDER / "load.svg": load.draw(load.result("sqlite")),
        FOLDER / "load-neo4j.svg": load.draw(load.result("neo4j")),
        FOLDER / "message.svg": diagrams.draw(diagrams.MESSAGE, "The way of a message"),
        FOLDER / "question.svg": diagrams.draw(diagrams.QUESTION, "The way of a question"),
        FOLDER / "peers-insert.svg": peers.insert_growth(compared),
        FOLDER / "peers-recall.svg": peers.recall_and_cost(compared),
    }
