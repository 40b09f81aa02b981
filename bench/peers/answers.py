"""What the model stub answers: each memory's own prompts, answered from the recorded facts.

A prompt is recognised by the JSON schema that the memory asks for or, without one, by its headings.
The message that it is about is found by its text. A fact is told for each message that states it,
as a model that reads one message at a time would tell it. What the recordings cannot answer
(summaries of entities, contradictions, times) is answered with as little as the schema permits;
``unanswered`` counts it by prompt.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.peers.conversations import Conversation
from bench.recorded import RecordedFact
from bench.recorded_model import RecordedModel

Schema = Mapping[str, Any]
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SPACES = re.compile(r"\s+")


def sentence(fact: RecordedFact) -> str:
    """Write a fact as a sentence."""
    relation = f"does not: {fact.relation}" if fact.negated else fact.relation
    when = f" ({fact.when})" if fact.when else ""
    return f"{fact.subject} {relation} {fact.object}{when}"


def dated(fact: RecordedFact, spoken: str) -> str:
    """Return when a fact became true: its own date if that is a day, or when it was told."""
    return f"{fact.when}T00:00:00Z" if _DAY.fullmatch(fact.when or "") else spoken


def _section(text: str, tag: str) -> str:
    _, _, rest = text.partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0].strip()


class Answers:
    """Answers the prompts of every memory in the bench."""

    def __init__(self, conversations: Sequence[Conversation]) -> None:
        self._facts: dict[str, list[RecordedFact]] = {}
        self._speakers: dict[str, str] = {}
        self._own = RecordedModel()
        self.unanswered: Counter[str] = Counter()
        for conversation in conversations:
            facts = conversation.facts()
            self._own.learn(conversation.name, conversation.messages, conversation.sessions)
            for message in conversation.messages:
                line = _line(f"{message['speaker']}: {message['text']}")
                self._facts[line] = facts[message["id"]]
                self._speakers[line] = message["speaker"]
        self._prompts: dict[str, Callable[[str, Schema], Any]] = {
            "ExtractedEntities": self._entities,
            "ExtractedEdges": self._edges,
            "NodeResolutions": self._same_nodes,
            "EdgeDuplicate": self._same_edges,
            "KnowledgeGraph": self._knowledge_graph,
        }

    def answer(self, body: Mapping[str, Any]) -> Any:
        """Return the answer to a request for a chat completion: an object, or text."""
        said = [text_of(message) for message in body["messages"]]
        prompt, (name, schema) = "\n".join(said), asked_schema(body)
        known = self._prompts.get(name)
        if known:
            return known(prompt, schema)
        if "## New Messages" in prompt:
            return self._memories(prompt)
        if "<turns>" in prompt:
            return self._own.answer(said[0], said[-1])
        self.unanswered[name or "text"] += 1
        return least(schema, schema) if schema else "Nothing is known."

    def facts_in(self, text: str) -> list[RecordedFact]:
        """Return the facts of every message in a text; a message is a line, or the whole text."""
        lines = [_line(text), *map(_line, text.splitlines())]
        found = [fact for line in dict.fromkeys(lines) for fact in self._facts.get(line, ())]
        return list(dict.fromkeys(found))

    def _memories(self, prompt: str) -> dict[str, Any]:
        """mem0: facts as sentences."""
        _, _, rest = prompt.rpartition("## New Messages\n")
        new = rest.partition("\n## Observation Date")[0]
        lines = [re.sub(r"^(?:user|assistant): ", "", line.strip()) for line in new.splitlines()]
        facts = self.facts_in("\n".join(lines)) or self.facts_in(" ".join(lines))
        return {"memory": [{"id": str(n), "text": sentence(f)} for n, f in enumerate(facts)]}

    def _entities(self, prompt: str, _: Schema) -> dict[str, Any]:
        """Graphiti: the speaker, and the entities of the facts."""
        message = _section(prompt, "CURRENT MESSAGE")
        names = [self._speakers[line] for line in [_line(message)] if line in self._speakers]
        for fact in self.facts_in(message):
            names += [fact.subject, fact.object]
        return {
            "extracted_entities": [
                {"name": name, "entity_type_id": 0, "episode_indices": [0]}
                for name in dict.fromkeys(names)
            ]
        }

    def _edges(self, prompt: str, _: Schema) -> dict[str, Any]:
        """Graphiti: the facts, true from their own date or else from when they were told."""
        spoken = _section(prompt, "REFERENCE_TIME").split("#")[0].strip()
        return {
            "edges": [
                {
                    "source_entity_name": fact.subject,
                    "target_entity_name": fact.object,
                    "relation_type": re.sub(r"\W+", "_", fact.relation).upper(),
                    "fact": sentence(fact),
                    "valid_at": dated(fact, spoken),
                    "invalid_at": None,
                    "episode_indices": [0],
                }
                for fact in self.facts_in(_section(prompt, "CURRENT_MESSAGE"))
                if fact.subject != fact.object
            ]
        }

    def _same_nodes(self, prompt: str, _: Schema) -> dict[str, Any]:
        """Graphiti: a node is known if one of the same name is."""
        known = {
            node["name"].casefold(): node["candidate_id"]
            for node in reversed(parsed(_section(prompt, "EXISTING ENTITIES")) or [])
        }
        return {
            "entity_resolutions": [
                {
                    "id": node["id"],
                    "name": node["name"],
                    "duplicate_candidate_id": known.get(node["name"].casefold(), -1),
                }
                for node in parsed(_section(prompt, "ENTITIES")) or []
            ]
        }

    def _same_edges(self, prompt: str, _: Schema) -> dict[str, Any]:
        """Graphiti: a fact is known if one with the same words is; none contradicts another."""
        new = _section(prompt, "NEW FACT").strip("\"'")
        known = parsed(_section(prompt, "EXISTING FACTS")) or []
        same = [edge["idx"] for edge in known if edge["fact"] == new]
        return {"duplicate_facts": same, "contradicted_facts": []}

    def _knowledge_graph(self, prompt: str, schema: Schema) -> dict[str, Any]:
        """cognee: entities and relations."""
        facts = [fact for line, told in self._facts.items() if told and line in _line(prompt)
                 for fact in told]  # fmt: skip
        types: dict[str, str] = {}
        for fact in facts:
            types.setdefault(fact.subject, fact.subject_type)
            types.setdefault(fact.object, fact.object_type)
        node = {**least(_inner(schema, "nodes"), schema)}
        edge = {**least(_inner(schema, "edges"), schema)}
        return {
            "nodes": [
                node | {"id": name, "name": name, "type": type, "description": name}
                for name, type in types.items()
            ],
            "edges": [
                edge
                | {
                    "source_node_id": fact.subject,
                    "target_node_id": fact.object,
                    "relationship_name": fact.relation,
                    "description": sentence(fact),
                }
                for fact in facts
            ],
        }


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def text_of(message: Mapping[str, Any]) -> str:
    """Return the text of a chat message, whose content may be a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def asked_schema(body: Mapping[str, Any]) -> tuple[str, Schema]:
    """Return the name and the JSON schema of the answer that a request wants, if it wants one."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return wanted["json_schema"]["name"], wanted["json_schema"]["schema"]
    for tool in body.get("tools") or ():
        return tool["function"]["name"], tool["function"]["parameters"]
    return "", {}


def parsed(text: str) -> Any:
    """Read JSON, or what Python printed; None if it is neither."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def least(schema: Schema, root: Schema) -> Any:
    """Return the smallest value that a JSON schema permits."""
    if "$ref" in schema:
        return least(_resolved(schema["$ref"], root), root)
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            options = schema[choice]
            null = any(option.get("type") == "null" for option in options)
            return None if null else least(options[0], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: least(fields[name], root) for name in schema.get("required", ())}
    empty: dict[str, Any] = {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}
    return empty.get(str(kind))


def _inner(schema: Schema, field: str) -> Schema:
    items = schema.get("properties", {}).get(field, {}).get("items", {})
    resolved: Schema = _resolved(items["$ref"], schema) if "$ref" in items else items
    return resolved


def _resolved(reference: str, root: Schema) -> Schema:
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    resolved: Schema = found
    return resolved
