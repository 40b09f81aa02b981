"""Compute the tokens that a language model takes to read conversations, without calling one.

python bench/model_cost.py --data DIR --json FILE

DIR has ``conversations/`` and ``extractions/`` as for bench/said.py. Input tokens are those of
the prompts, session by session. Output tokens are those of the recorded facts and summaries in the
form that the prompts ask for. Tokens are estimated as cognigraph does for its budgets.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cognigraph.ingest.model.transcript import Turn, numbered, unnumbered
from cognigraph.llm.prompts import prompt_file, render
from cognigraph.text.marks import estimate_tokens

READ, SUMMARISE = prompt_file("extract-3"), prompt_file("summarise-3")
TIME_WORDS = "last Friday"  # the recordings contain dates, not the words for them


def turns_of(session: dict[str, Any]) -> list[Turn]:
    """Return the turns of a session, a minute apart, including photo captions."""
    at = datetime.fromisoformat(session["time"]).replace(tzinfo=UTC)
    return [
        Turn(
            turn["speaker"],
            at + timedelta(minutes=index),
            turn["text"] + (f" [photo: {turn['photo']}]" if turn.get("photo") else ""),
        )
        for index, turn in enumerate(session["turns"])
    ]


def facts_answer(session: dict[str, Any], recorded: dict[str, Any]) -> str:
    """Return the recorded facts, and the entities that have a name or occur repeatedly."""
    numbers = {turn["id"]: str(index) for index, turn in enumerate(session["turns"], 1)}
    seen: Counter[str] = Counter()
    types: dict[str, str] = {}
    lines = []
    for fact in recorded["triples"]:
        for end in ("subject", "object"):
            seen[fact[end]] += 1
            types.setdefault(fact[end], fact[f"{end}_type"])
        cited = ",".join(numbers[turn] for turn in fact["turns"] if turn in numbers)
        relation = f"not {fact['relation']}" if fact.get("negated") else fact["relation"]
        time = [f"{TIME_WORDS} = {fact['when']}"] if fact.get("when") else []
        lines.append(" | ".join((cited, fact["subject"], relation, fact["object"], *time)))
    entities = [
        f"{name} | {type}"
        for name, type in types.items()
        if type != "time" and (name[:1].isupper() or seen[name] > 1)
    ]
    return written({"entities": entities, "facts": lines})


def summary_answer(recorded: dict[str, Any]) -> str:
    """Return the recorded keys and themes."""
    themes = [
        {"n": 0, "title": theme["title"], "summary": theme["summary"]}
        for theme in recorded["themes"]
    ]
    return written({"keys": recorded["keys"], "themes": themes})


def written(answer: dict[str, Any]) -> str:
    """Format JSON as models do under a schema: without spaces."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


def measure(data: Path) -> dict[str, Any]:
    """Sum up two calls for each session of each conversation."""
    total: Counter[str] = Counter()
    for file in sorted((data / "conversations").glob("*.json")):
        recording = json.loads((data / "extractions" / file.name).read_text("utf-8"))
        recorded = {session["session"]: session for session in recording["sessions"]}
        for session in json.loads(file.read_text("utf-8"))["sessions"]:
            turns, answer = turns_of(session), recorded[session["session"]]
            read = render(READ, known="-", context="-", turns=numbered(turns))
            summarise = render(SUMMARISE, "create", turns=unnumbered(turns))
            total["turns"] += len(turns)
            total["sessions"] += 1
            total["facts"] += len(answer["triples"])
            total["words"] += sum(len(turn.text.split()) for turn in turns)
            total["said"] += sum(estimate_tokens(turn.text) for turn in turns)
            for stage, prompt in (("facts", read), ("summary", summarise)):
                total[f"{stage}_system"] += estimate_tokens(prompt.system)
                total[f"{stage}_input"] += sum(map(estimate_tokens, (prompt.system, prompt.user)))
            total["facts_output"] += estimate_tokens(facts_answer(session, answer))
            total["summary_output"] += estimate_tokens(summary_answer(answer))
    return report(total)


def report(total: Counter[str]) -> dict[str, Any]:
    """Return the sums per 1,000 turns."""

    def per_1000(*names: str) -> int:
        return round(sum(total[name] for name in names) * 1000 / total["turns"])

    return {
        "turns": total["turns"],
        "sessions": total["sessions"],
        "facts": total["facts"],
        "turns_per_session": round(total["turns"] / total["sessions"], 1),
        "words_per_turn": round(total["words"] / total["turns"], 1),
        "prompts": [READ.id, SUMMARISE.id],
        "per_1000_turns": {
            "calls": per_1000("sessions", "sessions"),
            "said": per_1000("said"),
            "system_prompts": per_1000("facts_system", "summary_system"),
            "facts_input": per_1000("facts_input"),
            "facts_output": per_1000("facts_output"),
            "summary_input": per_1000("summary_input"),
            "summary_output": per_1000("summary_output"),
            "input": per_1000("facts_input", "summary_input"),
            "output": per_1000("facts_output", "summary_output"),
        },
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    text = json.dumps(measure(arguments.data), indent=2)
    print(text)
    if arguments.json is not None:
        arguments.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
