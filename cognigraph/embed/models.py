"""Embedders that run on this machine: fastembed, sentence-transformers, and how they are loaded.

Many models need a prefix before questions and passages, which is known from their model cards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from cognigraph.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The text put before every question, and the text put before every stored passage."""

    query: str = ""
    passage: str = ""


_SENTENCE = Prefixes("Represent this sentence for searching relevant passages: ")
_TASK = "Given a web search query, retrieve relevant passages that answer the query"

_FAMILIES = (
    # Version 1.5 is trained to work without the prefix: on conversations recall@15 is .881 without
    # it and .880 with it (bench/TRIED.md).
    (r"bge-(small|base|large)-en", _SENTENCE),
    (r"bge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"(multilingual-)?e5-.*-instruct", Prefixes(f"Instruct: {_TASK}\nQuery: ")),
    (r"(multilingual-)?e5-.*", Prefixes("query: ", "passage: ")),
    (r"nomic-embed-text.*", Prefixes("search_query: ", "search_document: ")),
    (r"modernbert-embed-.*", Prefixes("search_query: ", "search_document: ")),
    (r"snowflake-arctic-embed-.*-v2\.0", Prefixes("query: ")),
    (r"snowflake-arctic-embed-.*", _SENTENCE),
    (r"mxbai-embed-.*", _SENTENCE),
    (r"uae-large-v1", _SENTENCE),
    (r"embeddinggemma-.*", Prefixes("task: search result | query: ", "title: none | text: ")),
)
_PATTERNS = tuple((re.compile(pattern), prefixes) for pattern, prefixes in _FAMILIES)
_FINGERPRINT = re.compile(r"-[0-9a-f]{12}$")
_QUANTISED = re.compile(r"(-onnx)?(-(q|quantized|int8|fp16))?$")


def prefixes_for(model: str) -> Prefixes:
    """The prefixes of a model, recognised by its name, tag (``nomic-embed-text:v1.5``) or folder.

    Unknown models get none; gte, MiniLM, mpnet, bge-m3, jina and OpenAI's models need none.
    """
    name = model.rstrip("/").rsplit("/", 1)[-1].partition(":")[0].lower()
    name = _QUANTISED.sub("", _FINGERPRINT.sub("", name))
    for pattern, prefixes in _PATTERNS:
        if pattern.fullmatch(name):
            return prefixes
    return Prefixes()


def chosen(model: str, query: str | None, passage: str | None) -> Prefixes:
    """The prefixes of a model, each replaced by the given one unless that is ``None``."""
    known = prefixes_for(model)
    return Prefixes(
        known.query if query is None else query, known.passage if passage is None else passage
    )


def identity(name: str, prefixes: Prefixes) -> str:
    """A model's name with its passage prefix, because that prefix shapes the stored vectors."""
    return f"{name} after {prefixes.passage!r}" if prefixes.passage else name


MULTILINGUAL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""The model behind ``embedder="multilingual"``."""

_AT_ONCE = 2
"""Texts that are embedded at the same time: one that is added beside one of the background."""


class FastEmbedEmbedder:
    """ONNX sentence embedders run by fastembed, given as a model name or a local folder.

    A folder must hold ``model_optimized.onnx`` (or ``model.onnx``) and the tokenizer files; it is
    loaded without network access. A named model is downloaded by fastembed on first use. Prefixes
    default to those of the model's family (:mod:`cognigraph.embed.models`).

    Each text is run by itself: on a processor that takes half the time of a batch, whose shorter
    texts are padded, and needs memory for one text only. It also makes the vectors of quantised
    models independent of other texts. Texts are truncated at the model's limit.

    Args:
        model: a name, or the path of a folder.
        query_prefix: replaces the prefix of questions.
        passage_prefix: replaces the prefix of passages.
        threads: how many processors work on one text. More than one answers sooner and takes more
            processor time in all.

    Raises:
        ConfigurationError: fastembed is not installed, or the model is unknown or cannot be had.
    """

    def __init__(
        self,
        model: str = "BAAI/bge-small-en-v1.5",
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        threads: int = 1,
    ) -> None:
        _fastembed()
        folder = Path(model).expanduser()
        # onnxruntime's arena never gives back what the longest text needed.
        options = {"threads": threads, "enable_cpu_mem_arena": False}
        if folder.is_dir():
            self._model = _fastembed().TextEmbedding(**_local_model(folder), **options)
            self.name = f"fastembed:{fingerprint(folder)}"
        else:
            self._model = _named_model(model, options)
            self.name = f"fastembed:{model}"
        self._slots = BoundedSemaphore(_AT_ONCE)
        self._prefixes = chosen(model, query_prefix, passage_prefix)
        self.name = identity(self.name, self._prefixes)
        self.dimension = len(self._vector("dimension"))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        return np.stack([self._vector(self._prefixes.passage + text) for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        return self._vector(self._prefixes.query + text)

    def _vector(self, text: str) -> npt.NDArray[np.floating]:
        with self._slots:
            # Not query_embed, which may add a prefix of its own.
            return np.asarray(next(iter(self._model.embed([text]))))


def _fastembed() -> Any:
    try:
        import fastembed
    except ImportError as error:
        raise ConfigurationError(
            "fastembed needs an extra: pip install 'cognigraph-memory[fastembed]'"
        ) from error
    return fastembed


def _named_model(model: str, options: dict[str, Any]) -> Any:
    """A model that fastembed knows, from its cache or, if it is not there, from the hub."""
    from fastembed.common.utils import define_cache_dir

    _register(model)
    embedding = _fastembed().TextEmbedding
    known = {item["model"].lower(): item for item in embedding.list_supported_models()}
    if model.lower() not in known:
        raise ConfigurationError(f"{model!r} is neither a folder nor a model that fastembed knows")
    repository = known[model.lower()]["sources"]["hf"] or model
    try:
        require_model(repository, "fastembed", cache=define_cache_dir())
        return embedding(model, **options)
    except ConfigurationError as unreachable:
        try:  # earlier versions of fastembed kept models elsewhere in its cache
            return embedding(model, local_files_only=True, **options)
        except ValueError:
            raise unreachable from None
    except ValueError as error:
        raise ConfigurationError(f"{model!r} cannot be fetched: {error}") from error


def _register(model: str) -> None:
    """Tell fastembed of multilingual-e5-small, whose own repository holds it as ONNX."""
    from fastembed.common.model_description import ModelSource, PoolingType

    embedding, name = _fastembed().TextEmbedding, "intfloat/multilingual-e5-small"
    known = (item["model"] for item in embedding.list_supported_models())
    if model.lower() == name and name not in known:
        embedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),
            dim=384,
            model_file="onnx/model.onnx",
            license="mit",
            size_in_gb=0.47,
        )


def _local_model(folder: Path) -> dict[str, Any]:
    """Arguments that make fastembed load a folder, as a known model if its name is one."""
    import json

    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    files = [name for name in ("model_optimized.onnx", "model.onnx") if (folder / name).is_file()]
    if not files or not (folder / "tokenizer.json").is_file():
        raise ConfigurationError(
            f"{folder} must contain tokenizer.json and model_optimized.onnx or model.onnx"
        )
    for known in TextEmbedding.list_supported_models():
        if known["model"].rsplit("/", 1)[-1].lower() == folder.name.lower() and (
            known["model_file"] == files[0]
        ):
            return {"model_name": known["model"], "specific_model_path": str(folder)}
    config = json.loads((folder / "config.json").read_text("utf-8"))
    name = f"local/{fingerprint(folder)}"
    if any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        return {"model_name": name, "specific_model_path": str(folder)}
    TextEmbedding.add_custom_model(
        model=name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(url=folder.as_uri()),
        dim=int(config["hidden_size"]),
        model_file=files[0],
    )
    return {"model_name": name, "specific_model_path": str(folder)}


_WEIGHTS = ("*.onnx", "*.safetensors", "*.bin", "*.pt")


def fingerprint(folder: Path) -> str:
    """The name of a folder and a digest of its weights, so that a moved folder is recognised."""
    digest = blake2b(digest_size=6)
    for file in sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern)):
        digest.update(file.name.encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return f"{folder.name}-{digest.hexdigest()}"


class SentenceTransformersEmbedder:
    """Embeds texts with a sentence-transformers model.

    ``model`` is a folder, or a name that sentence-transformers downloads on first use. Prefixes
    that are not given default to the model's own prompts for queries and documents, and then to
    those of its family.
    """

    def __init__(
        self,
        model: str,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ConfigurationError(
                "this embedder needs an extra: "
                "pip install 'cognigraph-memory[sentence-transformers]'"
            ) from error
        if not model:
            raise ConfigurationError("name a model: sentence-transformers:MODEL_OR_FOLDER")
        folder = Path(model).expanduser()
        if not folder.is_dir():
            repository = model if "/" in model else f"sentence-transformers/{model}"
            require_model(repository, "sentence-transformers")
        try:
            self._model = SentenceTransformer(str(folder) if folder.is_dir() else model)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"cannot load {model!r}: {error}") from error
        prompts = self._model.prompts or {}
        if query_prefix is None:
            query_prefix = prompts.get("query") or None
        if passage_prefix is None:
            passage_prefix = prompts.get("document") or prompts.get("passage") or None
        self._prefixes = chosen(model, query_prefix, passage_prefix)
        shown = fingerprint(folder) if folder.is_dir() else model
        self.name = identity(f"sentence-transformers:{shown}", self._prefixes)
        self._lock = Lock()
        self.dimension = len(self.embed_query("dimension"))

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of passages."""
        return self._encoded([self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question."""
        return np.asarray(self.embed_queries([text])[0])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating]:
        """Vectors of several questions."""
        return self._encoded([self._prefixes.query + text for text in texts])

    def _encoded(self, texts: list[str]) -> npt.NDArray[np.floating]:
        with self._lock:
            # prompt="" because the texts already have the prefix that the model would add.
            vectors = self._model.encode(texts, prompt="", show_progress_bar=False)
        return np.asarray(vectors, np.float32)


# Whether a named model can be loaded: it is on this machine, or its hub answers.
#
# The libraries that load models retry for minutes before they say that there is no network. So the
# hub is asked first, and only for a few seconds.

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
    from huggingface_hub.errors import RepositoryNotFoundError

    outcome: list[str | None] = []

    def ask() -> None:
        try:
            model_info(repository, timeout=_PATIENCE)
            outcome.append(None)
        except RepositoryNotFoundError:  # the hub has said so, not a proxy on the way to it
            outcome.append(None)
        except Exception as error:  # noqa: BLE001 - of whatever library carries the request
            outcome.append(f"{type(error).__name__}: {error}".splitlines()[0])

    # A thread, because a timeout of a request does not cover looking up the name of the server.
    thread = Thread(target=ask, name="cognigraph-hub", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return outcome[0] if outcome else f"no answer within {_PATIENCE:g} s"
