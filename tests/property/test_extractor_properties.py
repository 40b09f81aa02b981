"""Properties of the rules extractor: no text breaks it, and it invents nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cognigraph.english.sentences import clean, tokenise
from cognigraph.english.times.find import find_times
from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.model.messages import ANONYMOUS
from cognigraph.stores.records import WorkChunk
from cognigraph.times import parse_when
from tests.examples import examples

AT = datetime(2024, 2, 28, 23, 30, tzinfo=UTC)
WORDS = """I we you he she it they her his my your our Ann Tom Dana Dr. Berg Oslo moved bought told
said thinks love hates is was not never will to the a in with and but because if who that which
lamp harbour choir sister brother boss friend name called yesterday last next week May 2022 two
ago every Tuesday from until at five . , ! ? : 's n't \" ( 東京 😀 \n""".split(" ")
speakers = st.sampled_from(["Ann", "Tom", "Eve", None])
prose = st.lists(st.sampled_from(WORDS), max_size=24).map(" ".join)
texts = st.one_of(prose, st.text(max_size=60))
chats = st.lists(st.tuples(speakers, texts), min_size=1, max_size=5)
RULES = RulesExtractor()


def window_of(chat: list[tuple[str | None, str]], session: str = "s") -> Window:
    return Window(
        "x",
        session,
        tuple(
            WorkChunk(f"{session}{n}", f"m{n}", session, speaker, AT + timedelta(minutes=n), text)
            for n, (speaker, text) in enumerate(chat)
        ),
    )


def said_words(window: Window) -> set[str]:
    """Return every word that an extraction may contain: spoken words, speakers, resolved times."""
    found = {ANONYMOUS, "s"}
    for chunk in window.chunks:
        tokens = list(tokenise(clean(chunk.text)))
        spoken = [token.low for token in tokens] + [chunk.text.lower(), chunk.speaker or ""]
        found.update(word for text in spoken for word in re.findall(r"\w+", text.lower()))
    return found


def words_of(found: Extraction) -> set[str]:
    texts = [part for fact in found.facts for part in (fact.subject, fact.object)]
    texts += [fact.said_by for fact in found.facts if fact.said_by]
    texts += [mention.name for mention in found.mentions]
    texts += [alias for mention in found.mentions for alias in mention.aliases]
    return {
        word
        for text in texts
        if parse_when(text) is None
        for word in re.findall(r"\w+", text.lower())
    }


@settings(max_examples=examples(80))
@example(chat=[("Ann", "Her name is Dana . She said that she moved")])
@example(chat=[("Ann", "_²hb")])
@example(chat=[("Ann", "I moved to _Oslo_ .")])
@example(chat=[("Ann", "my sister Dana , the boss , my friend , is Dana 's boss")])
@given(chat=chats)
def test_extracted_names_occur_in_the_text(chat: list[tuple[str | None, str]]) -> None:
    window = window_of(chat)
    found = RULES.extract(window)
    indices = set(range(len(window.chunks)))
    for fact in found.facts:
        assert fact.chunks and set(fact.chunks) <= indices
        assert fact.subject.strip() and fact.relation.strip() and fact.object.strip()
        assert fact.when is None or parse_when(fact.when) is not None
        assert fact.said_by is None or fact.said_by.strip()
    for mention in found.mentions:
        assert mention.name.strip() and set(mention.chunks) <= indices
    assert words_of(found) <= said_words(window)


@settings(max_examples=examples(40))
@given(first=chats, second=chats)
def test_sessions_do_not_affect_each_other(
    first: list[tuple[str | None, str]], second: list[tuple[str | None, str]]
) -> None:
    one, two = window_of(first, "a"), window_of(second, "b")
    read = RULES.extract
    forward = (read(one), read(two))
    backward = (read(two), read(one))
    assert forward == (backward[1], backward[0])


@settings(max_examples=examples(150))
@given(text=texts, at=st.datetimes(timezones=st.just(UTC)))
def test_times_lie_in_the_sentence_and_are_dates(text: str, at: datetime) -> None:
    tokens = list(tokenise(clean(text)))
    end = 0
    for span in find_times(tokens, at):
        assert end <= span.start < span.end <= len(tokens)
        assert not span.when or parse_when(span.when) is not None
        end = span.end
