"""Whether a named model can be loaded: it is on this machine, or its hub answers.

The libraries that load models retry for minutes before they say that there is no network. So the
hub is asked first, and only for a few seconds.
"""

from __future__ import annotations

from pathlib import Path
from threading import Thread

from cognigraph.errors import ConfigurationError

_PATIENCE = 3.0
"""Seconds within which the hub must answer."""


def require_model(repository: str, library: str, *, cache: Path | None = None) -> None:
    """Check that a model of the Hugging Face hub is on this machine, or can be fetched.

    The hub answers for a model that it does not have, too; the library then says so.

    Args:
        repository: the name of the model on the hub.
        library: the name of the embedder that takes its folder.
        cache: where the library keeps models, if that is not the cache of the hub.

    Raises:
        ConfigurationError: neither is the case; says what to do, in less than five seconds.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        snapshot_download(repository, cache_dir=cache, local_files_only=True)
    except HFValidationError:
        return  # not a name of the hub; the library knows better what it is
    except LocalEntryNotFoundError:
        if (problem := _silence(repository)) is not None:
            raise ConfigurationError(
                f"the model {repository!r} is not on this machine and cannot be fetched "
                f"({problem}); connect to the internet for the first use, or copy the folder of "
                f"the model from another machine and use '{library}:/path/to/folder'; the default "
                "embedder, 'wordllama', needs neither"
            ) from None


def _silence(repository: str) -> str | None:
    """Why the hub does not answer; ``None`` if it does."""
    from huggingface_hub import model_info
    from huggingface_hub.errors import HfHubHTTPError

    outcome: list[str | None] = []

    def ask() -> None:
        try:
            model_info(repository, timeout=_PATIENCE)
            outcome.append(None)
        except HfHubHTTPError:
            outcome.append(None)
        except Exception as error:  # noqa: BLE001 - of whatever library carries the request
            outcome.append(f"{type(error).__name__}: {error}".splitlines()[0])

    # A thread, because a timeout of a request does not cover looking up the name of the server.
    thread = Thread(target=ask, name="cognigraph-hub", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return outcome[0] if outcome else f"no answer within {_PATIENCE:g} s"
