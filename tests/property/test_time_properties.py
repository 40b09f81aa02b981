"""Time in questions: any text is read, and ``as_of`` never shows a later fact."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cognigraph import Memory
from cognigraph.ingest import Extraction, Fact
from cognigraph.model import Theme
from cognigraph.retrieve.question.temporal import TimeWindow, read_time
from cognigraph.testing import ScriptedExtractor
from tests.examples import examples
from tests.property.alphabets import ANY_TEXT

START = datetime(2026, 1, 1, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)
WORDS = st.lists(
    st.sampled_from(
        "before after since until as of the week two days last next may june 3 2023 31 ago now "
        "first when how long did she move , ? weekend yesterday summer 9999 0001".split()
    ),
    max_size=12,
).map(" ".join)


@given(st.one_of(ANY_TEXT, WORDS), MOMENTS)
@example("two years before 1 January 0001", START)
@example("200 years after 31 December 9999", START)
def test_any_question_is_read(question, now):
    found = read_time(question, now)
    assert found == read_time(question, now)
    assert found.as_of is None or found.as_of <= now
    for time in found.times:
        if isinstance(time, TimeWindow) and time.start and time.end:
            assert time.start < time.end
        for start, end in time.intervals([now.year]):
            assert start < end


@pytest.mark.slow
@settings(max_examples=examples(15))
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.integers(-1, 41),
    st.sampled_from(
        ["Where does Ann live?", "What changed in city 3?", "Where does Ann live now?"]
    ),
)
def test_as_of_never_shows_what_was_said_later(days, until, question):
    extractor = ScriptedExtractor(
        lambda window: Extraction(
            facts=tuple(
                Fact("Ann", "person", "lives in", chunk.text.split()[-1], "location", (index,))
                for index, chunk in enumerate(window.chunks)
            ),
            themes=(Theme("homes", " ".join(chunk.text for chunk in window.chunks)),),
        )
    )
    as_of = START + timedelta(days=until)
    with tempfile.TemporaryDirectory() as folder:
        with Memory(Path(folder) / "m.db", extractor=extractor, enrich="manual") as memory:
            for number, day in enumerate(days):
                memory.add(
                    f"Ann lives in city{day}", id=f"m{number}", session=f"s{day % 4}",
                    at=START + timedelta(days=day),
                )  # fmt: skip
            memory.flush()
            now = START + timedelta(days=50)
            result = memory.search(question, now=now, as_of=as_of)
            block = memory.context(question, now=now, as_of=as_of)
        assert len(result) == min(sum(day <= until for day in days), 15)
        shown = [*result.triples, *(triple for hit in result for triple in hit.triples)]
        assert all(hit.at <= as_of for hit in result)
        assert all(triple.last_observed <= as_of for triple in shown)
        assert all(source.at <= as_of for triple in shown for source in triple.sources)
        assert all(hit.session.ended_at <= as_of for hit in result.sessions)
        later = {f"city{day}" for day in days if day > until} - {
            f"city{day}" for day in days if day <= until
        }
        assert not later & set(block.replace(".", " ").replace(",", " ").split())
