"""``SpacyExtractor``: facts from spaCy's dependency parse, entities from its named entities.

Needs the extra ``spacy`` and an English pipeline with a parser, a tagger and a lemmatizer
(``python -m spacy download en_core_web_sm``). Keys, summary and times are those of the
rules, and so is a message that the parse made nothing of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from threading import Lock
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.ids import normalise
from cognigraph.ingest.dependencies import DependencyReader, Parsed
from cognigraph.ingest.extraction import Extraction, Mention, Window
from cognigraph.ingest.rules import MAX_FACTS, FactCollector, RulesExtractor, pictures, voices_of
from cognigraph.ingest.sentences import clean
from cognigraph.ingest.spans import TYPES, as_token
from cognigraph.ingest.statement import Statement
from cognigraph.ingest.summary import SessionState
from cognigraph.ingest.timewords import find_times
from cognigraph.model import Usage
from cognigraph.stores.rows import WorkChunk

DEFAULT_PIPELINE = "en_core_web_sm"
_NEEDED = ("parser", "tagger", "lemmatizer")
_MAX_TEXT = 20_000  # characters read of one chunk: a parse needs about 1 MB for each 1,000
_MAX_SENTENCE = 200  # tokens; longer "sentences" are no prose


class SpacyExtractor:
    """Reads chunks with a spaCy pipeline. Thread-safe: one parse at a time.

    ``pipeline`` is the name of an installed pipeline or a folder with one. It is loaded when the
    extractor is made, which takes about a second; what is missing is a ConfigurationError.
    ``timezone`` is where speakers' days begin and end.
    """

    def __init__(self, pipeline: str = DEFAULT_PIPELINE, *, timezone: tzinfo | None = None) -> None:
        self._nlp = _load(pipeline)
        meta = self._nlp.meta
        self._name = f"spacy-1:{meta['lang']}_{meta['name']}-{meta['version']}"
        self._rules = RulesExtractor(timezone=timezone)
        self._timezone = timezone
        self._lock = Lock()

    @property
    def name(self) -> str:
        """``spacy-1:`` and the pipeline with its version."""
        return self._name

    def estimate(self, window: Window) -> Usage:
        """Nothing: no model is asked."""
        return Usage()

    def extract(self, window: Window) -> Extraction:
        """Read a window: facts and entities by the parse; keys and themes by the rules."""
        ruled = self._rules.extract(window)
        state = SessionState.load(window.notes.state)
        chunks = (*window.before, *window.chunks)
        speakers = tuple(
            dict.fromkeys((*state.speakers, *(chunk.speaker for chunk in chunks if chunk.speaker)))
        )
        reader, facts = DependencyReader(), FactCollector()
        entities: dict[tuple[str, str], tuple[str, list[int]]] = {}
        first = len(window.before)
        for at, (chunk, doc) in enumerate(zip(chunks, self._parse(chunks), strict=True)):
            place = at - first
            statements = self._read(chunk, doc, speakers, reader)
            if place < 0:
                continue
            facts.add(
                (*statements, *pictures(chunk.text, voices_of(chunk.speaker, speakers))[1]), place
            )
            for name, type_ in _entities(doc, speakers).items():
                entities.setdefault((normalise(name), type_), (name, []))[1].append(place)
        told = {place for fact in facts.all() for place in fact.chunks}
        return Extraction(
            mentions=_mentions(entities, ruled.mentions, reader.aliases),
            # A message that the parse made nothing of is read by the rules.
            facts=(*facts.all(), *(fact for fact in ruled.facts if told.isdisjoint(fact.chunks))),
            keys=ruled.keys,
            themes=ruled.themes,
            state=ruled.state,
        )

    def _parse(self, chunks: Sequence[WorkChunk]) -> list[Any]:
        texts = [
            _one_line(clean(pictures(chunk.text[:_MAX_TEXT], voices_of(chunk.speaker, ()))[0]))
            for chunk in chunks
        ]
        with self._lock:  # spaCy does not promise that a pipeline may be used by two threads
            return list(self._nlp.pipe(texts))

    def _read(
        self, chunk: WorkChunk, doc: Any, speakers: Sequence[str], reader: DependencyReader
    ) -> list[Statement]:
        voices = voices_of(chunk.speaker, speakers)
        at = chunk.at if self._timezone is None else chunk.at.astimezone(self._timezone)
        names = _entities(doc, speakers)
        found: list[Statement] = []
        for sentence in doc.sents:
            nodes = tuple(sentence)[:_MAX_SENTENCE]
            tokens = [as_token(node) for node in nodes]
            times = tuple(find_times(tokens, at))
            timed = {tokens[p].text for span in times for p in range(span.start, span.end)}
            said = Parsed(
                nodes,
                times,
                {
                    name: type_
                    for name, type_ in names.items()
                    if name in sentence.text and not timed.issuperset(name.split())
                },
                voices,
                question=sentence.text.rstrip().endswith("?"),
            )
            found.extend(reader.read(said))
        return found[:MAX_FACTS]


def _load(pipeline: str) -> Any:
    try:
        import spacy
    except ImportError as error:
        raise ConfigurationError(
            "the spacy extractor needs spaCy: pip install 'cognigraph-memory[spacy]'"
        ) from error
    try:
        nlp = spacy.load(pipeline)
    except OSError as error:
        raise ConfigurationError(
            f"no spaCy pipeline {pipeline!r} is installed; get one with "
            f"'python -m spacy download {DEFAULT_PIPELINE}', or name another as 'spacy:NAME'"
        ) from error
    missing = [part for part in _NEEDED if part not in nlp.pipe_names]
    if missing:
        raise ConfigurationError(
            f"the spaCy pipeline {pipeline!r} has no {', '.join(missing)}; use an English pipeline "
            f"such as {DEFAULT_PIPELINE}"
        )
    return nlp


def _one_line(text: str) -> str:
    """Lines as sentences: the parser sees no line ends, and no token is mere space."""
    lines = (line.strip() for line in text.splitlines())
    ended = (line if line[-1] in ".!?…:;," else f"{line}." for line in lines if line)
    return " ".join(" ".join(ended).split())


def _entities(doc: Any, speakers: Iterable[str]) -> dict[str, str]:
    """Named entities with their types in our vocabulary; speakers are persons whatever NER says."""
    persons = {name.lower(): name for name in speakers}
    found: dict[str, str] = {}
    for entity in doc.ents:
        text = entity.text.removeprefix("the ").removesuffix("'s").strip(" \"'.,!?")
        if entity.label_ in TYPES and text and any(letter.isalpha() for letter in text):
            kind = TYPES[entity.label_]
            if kind == "person" and entity.start and doc[entity.start - 1].lower_ == "in":
                kind = "location"
            found[persons.get(text.lower(), text)] = "person" if text.lower() in persons else kind
    return found


def _mentions(
    entities: Mapping[tuple[str, str], tuple[str, list[int]]],
    ruled: Iterable[Mention],
    aliases: Mapping[str, Sequence[str]],
) -> tuple[Mention, ...]:
    """What NER found, and of what the rules found the rest."""
    named = {name for name, _ in entities}
    found = [
        Mention(name, type_, tuple(dict.fromkeys(places)), tuple(aliases.get(name, ())))
        for (_, type_), (name, places) in entities.items()
    ]
    return (*found, *(one for one in ruled if normalise(one.name) not in named))
