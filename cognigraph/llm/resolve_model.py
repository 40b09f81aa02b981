"""Create the model that is named in ``Memory(model=...)``, or check the one that is given."""

from __future__ import annotations

import os

from cognigraph.errors import ConfigurationError
from cognigraph.llm.protocols import Model


def resolve_model(model: str | Model | None) -> Model | None:
    """Return the model for a name; ``None`` and a :class:`Model` are returned unchanged.

    ``"openai"`` is the model of the environment (:meth:`ChatModel.from_environment`), and
    ``"openai:NAME"`` another model of the same endpoint.

    Raises:
        ConfigurationError: the name is unknown, or the object is not a model.
    """
    if model is None:
        return None
    if isinstance(model, str):
        kind, _, name = model.partition(":")
        if kind != "openai":
            raise ConfigurationError(
                f"unknown model {model!r}; use 'openai', 'openai:NAME', or pass a Model"
            )
        from cognigraph.llm.client import ChatModel

        environ = {**os.environ, "COGNIGRAPH_MODEL": name} if name else os.environ
        return ChatModel.from_environment(environ)
    if isinstance(getattr(model, "name", None), str) and callable(getattr(model, "ask", None)):
        return model
    raise ConfigurationError(
        f"{type(model).__name__} is not a model: it needs a name (text) and ask(prompt, schema)"
    )
