"""Convert pydantic models to the strict JSON schemas that servers expect."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cognigraph.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic import BaseModel

# Pydantic checks bounds and fills in defaults afterwards. Servers differ in which of these
# keywords they reject (OpenAI rejects some; llama.cpp builds slow grammars from others).
_LEFT_OUT = frozenset(
    "default examples format maxItems maxLength maximum minItems minLength minimum multipleOf "
    "pattern exclusiveMaximum exclusiveMinimum title uniqueItems".split()
)


@lru_cache(maxsize=256)
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The strict form of a model's JSON schema: all properties required, no others allowed.

    OpenAI calls this form strict. Servers that turn it into a grammar (vLLM, llama.cpp, Ollama)
    write every field, in order. The result is cached: do not modify it.

    Raises:
        ConfigurationError: the schema does not describe an object with fields.
    """
    form = deepcopy(schema.model_json_schema(mode="validation"))
    if reference := form.pop("$ref", None):  # a model that contains itself
        form |= form["$defs"][reference.rpartition("/")[2]]
    if not form.get("properties"):
        raise ConfigurationError(f"{schema.__name__} has no fields that a model could fill in")
    strict: dict[str, Any] = _strict(form)
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in ("properties", "$defs"):  # their keys are names, not schema keywords
            result[key] = {name: _strict(part) for name, part in value.items()}
        elif key not in _LEFT_OUT:
            result[key] = value if key in ("enum", "const") else _strict(value)
    if "$ref" in result:
        return {"$ref": result["$ref"]}
    if result.get("type") == "object" and "properties" in result:
        result["additionalProperties"] = False
        result["required"] = list(result["properties"])
    return result
