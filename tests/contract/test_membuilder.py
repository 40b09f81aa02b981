"""Writers keep a core profile, episodes, facts and procedures, in versions, on every store."""

from __future__ import annotations

from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest

from cognigraph import Filter, Memory, ModelUnavailableError
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.llm import Prompt
from cognigraph.testing import ScriptedModel
from tests.conftest import START

NOTHING: dict[str, Any] = {"operations": []}
QUIET = {"core": {"operation": "NONE"}, "episodic": NOTHING, "semantic": NOTHING,
         "procedural": NOTHING}  # fmt: skip


class Stages:
    """Answers by stage, in order; then that nothing changes."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Any]] = {}
        self.asked: list[Prompt] = []

    def then(self, stage: str, *answers: Any) -> None:
        self.answers.setdefault(stage, []).extend(answers)

    def __call__(self, prompt: Prompt) -> Any:
        self.asked.append(prompt)
        waiting = self.answers.get(prompt.name)
        answer = waiting.pop(0) if waiting else QUIET[prompt.name]
        return answer(prompt) if callable(answer) else answer

    def prompts(self, stage: str) -> list[str]:
        return [prompt.user for prompt in self.asked if prompt.name == stage]


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.fixture
def stages() -> Stages:
    return Stages()


@pytest.fixture
def memory(open_memory, stages) -> Memory:
    return open_memory(extractor=MemBuilderExtractor(ScriptedModel(stages, name="test")))


def tell(space, *texts: str, session: str = "s", first: int = 0) -> None:
    for number, text in enumerate(texts, first):
        space.add(text, id=f"m{number}", session=session, speaker="Mara", at=at(number))


@pytest.mark.slow
@pytest.mark.above_stores
def test_the_case_of_the_coffee(memory, stages, space_name):
    """A habit, its change, and what both mean together: nothing that was true gets lost."""
    space = memory.space(space_name)
    stages.then("core", {"operation": "append", "content": "Drinks two espressos each morning."})
    stages.then("episodic", {"operations": [{
        "action": "ADD", "title": "Espresso in the morning", "turns": "1",
        "memory": "2026-05-20: Mara drinks two espressos before work."}]})  # fmt: skip
    stages.then("semantic", {"operations": [
        {"action": "ADD", "fact": "1 | Mara | drinks | espresso"},
        {"action": "SKIP", "reason": "everybody knows what coffee is"}]})  # fmt: skip
    tell(space, "I need two espressos each morning before work.")
    (step,) = space.queue.enrich()
    assert "skipped: everybody knows what coffee is" in step.rejected
    first = space.overview.core_profile()
    assert (first.text, first.version) == ("Drinks two espressos each morning.", 1)
    assert first.sources == (("s", "m0"),)

    stages.then("core", {"operation": "REPLACE", "old": "Drinks two espressos each morning.",
                         "content": "Drinks green tea; gave up coffee in May 2026."})  # fmt: skip
    stages.then("episodic", {"operations": [
        {"action": "ADD", "title": "No more coffee", "turns": "1",
         "memory": "2026-05-20: Mara gives up coffee, because she sleeps badly."},
        {"action": "MERGE", "targets": ["E1"], "title": "Too few", "memory": "one is no merge"},
    ]})  # fmt: skip
    tell(space, "I gave up coffee, I slept so badly. Green tea it is.", first=1)
    (step,) = space.queue.enrich()
    assert "lacks a required field: episodic MERGE" in step.rejected
    stages.then("episodic", {"operations": [{
        "action": "MERGE", "targets": ["E1", "E2"], "title": "From coffee to tea",
        "memory": "2026-05-20 to 2026-05-20: sleep decided what Mara drinks."}]})  # fmt: skip
    tell(space, "Three weeks without coffee now!", first=2)
    space.queue.enrich()

    assert space.overview.core_profile().text == "Drinks green tea; gave up coffee in May 2026."
    assert space.overview.core_profile(1) == first  # versions instead of overwriting
    titles = [theme.title for theme in space.overview.sessions()[0].themes]
    assert titles == ["Espresso in the morning", "No more coffee", "From coffee to tea"]
    merged = next(
        episode for episode in space.overview.episodes() if episode.title == "From coffee to tea"
    )
    assert merged.messages == ("m0", "m1")
    rows = space.cypher(
        "MATCH (a:Theme)-[:DERIVED_FROM]->(b:Theme) RETURN a.title AS a, b.title AS b"
    )
    assert sorted((row["a"], row["b"]) for row in rows) == [
        ("From coffee to tea", "Espresso in the morning"), ("From coffee to tea", "No more coffee"),
    ]  # fmt: skip
    rows = space.cypher(
        "MATCH (a:Profile)-[:SUPERSEDES]->(b:Profile) RETURN a.version AS a, b.version AS b"
    )
    assert rows == [{"a": 2, "b": 1}]
    assert ". Mara drinks espresso\n" in stages.prompts("semantic")[1]
    block = space.context("What does Mara drink?", 300, now=at(60))
    assert "Profile:\n  Drinks green tea; gave up coffee in May 2026." in block
    early = space.context("What does Mara drink?", 300, now=at(60), as_of=at(0))
    assert "Profile:\n  Drinks two espressos each morning." in early


@pytest.mark.above_stores
def test_a_fact_that_the_rules_have_read_as_well_is_stored_once(memory, stages, space_name):
    space = memory.space(space_name)
    stages.then("semantic", {"operations": [
        {"action": "ADD", "fact": "1 | Mara | works at | Fiat"},
        {"action": "ADD", "fact": "1 | Mara | lives in | Turin"}]})  # fmt: skip
    tell(space, "I live in Turin. I work at Fiat.")
    space.queue.enrich()
    assert sorted((fact.text, fact.object_type) for fact in space.facts()) == [
        ("Mara lives in Turin", "location"), ("Mara works at Fiat", "organization"),
    ]  # fmt: skip


PRESS = {"action": "ADD", "title": "Making coffee", "steps": ["grind coarsely", "press after four"],
         "context": "French press", "turns": "1"}  # fmt: skip
POUR = {**PRESS, "action": "UPDATE", "target": "P1", "context": "pour-over since May",
        "steps": ["grind 18 g", "let it bloom", "pour slowly"]}  # fmt: skip


@pytest.mark.slow
@pytest.mark.above_stores
def test_another_way_of_making_coffee_does_not_erase_the_first(memory, stages, space_name):
    space = memory.space(space_name)
    stages.then("procedural", {"operations": [PRESS]})
    tell(space, "For coffee I grind coarsely and press after four minutes.")
    space.queue.enrich()
    stages.then("procedural", {"operations": [POUR, {**POUR, "target": "P7"}]})
    tell(space, "I pour my coffee over now: 18 g, bloom, pour slowly.", first=1)
    (step,) = space.queue.enrich()
    assert "names a target that does not exist: procedural UPDATE" in step.rejected
    assert "P1. Making coffee (French press): 1. grind coarsely" in stages.prompts("procedural")[1]
    (coffee,) = space.overview.procedures()
    assert (coffee.steps, coffee.version) == (("grind 18 g", "let it bloom", "pour slowly"), 2)
    old, new = space.overview.procedures(versions=True)
    assert (old.context, old.steps[1], old.sources) == (
        "French press", "press after four", (("s", "m0"),),
    )  # fmt: skip
    assert old.uid == new.uid and new == coffee
    block = space.context("How do I make coffee?", 400, now=at(60))
    assert "Making coffee (pour-over since May): 1. grind 18 g 2. let it bloom" in block
    assert "Procedures:" not in space.context("Who is Zoe?", 400, now=at(60))


@pytest.mark.above_stores
def test_a_writer_that_fails_leaves_the_rest_and_is_tried_again(memory, stages, space_name, clock):
    space = memory.space(space_name)
    stages.then("core", ModelUnavailableError("down"))
    stages.then("procedural", {"operations": [PRESS]})
    tell(space, "I live in Graz. I press my coffee.")
    steps = space.queue.enrich()
    assert steps[0].summary_due and steps[0].triples
    assert "Mara lives in Graz" in {fact.text for fact in space.facts()}  # the rules
    assert [procedure.title for procedure in space.overview.procedures()] == ["Making coffee"]
    assert space.overview.core_profile() is None
    assert memory._engine.store.queue.waiting(space_name).summaries == 1
    stages.then("core", {"operation": "APPEND", "content": "Lives in Graz."})
    clock.advance(timedelta(hours=1))
    stages.asked.clear()
    space.queue.enrich()
    assert [prompt.name for prompt in stages.asked] == ["core"]  # the others are done
    profile = space.overview.core_profile()
    assert (profile.text, profile.sources) == ("Lives in Graz.", (("s", "m0"),))
    assert memory._engine.store.queue.waiting(space_name).summaries == 0


@pytest.mark.slow
def test_what_is_forgotten_is_in_no_version(memory, stages, space_name):
    space = memory.space(space_name)
    stages.then("core", {"operation": "APPEND", "content": "Lives in Graz."},
                {"operation": "APPEND", "content": "Has a dog, Zebulon."})  # fmt: skip
    stages.then("procedural", NOTHING, {"operations": [PRESS]})
    tell(space, "I live in Graz.", session="one")
    space.queue.enrich()
    tell(space, "My dog Zebulon eats my bread.", session="two", first=1)
    space.queue.enrich()
    assert space.overview.core_profile().text == "Lives in Graz.\nHas a dog, Zebulon."
    space.forget(message="m1")
    profile = space.overview.core_profile()
    assert (profile.text, profile.version) == ("Lives in Graz.", 1)
    assert space.overview.procedures(versions=True) == []
    assert "Zebulon" not in str(space.cypher("MATCH (n) RETURN n", limit=1000))
    space.forget(everything=True)
    assert space.overview.core_profile() is None


@pytest.mark.slow
def test_a_copy_and_an_export_have_all_versions(memory, stages, space_name, tmp_path):
    space = memory.space(space_name)
    stages.then("core", {"operation": "APPEND", "content": "Lives in Graz."},
                {"operation": "REWRITE", "content": "Lives in Linz."})  # fmt: skip
    stages.then("procedural", {"operations": [PRESS]})
    tell(space, "I live in Graz.")
    space.queue.enrich()
    tell(space, "I moved to Linz.", first=1)
    space.queue.enrich()
    memory.admin.copy_space(space_name, f"{space_name}-b")
    copy = memory.space(f"{space_name}-b")
    for version in (1, 2):
        assert copy.overview.core_profile(version) == space.overview.core_profile(version)
    assert copy.overview.procedures(versions=True) == space.overview.procedures(versions=True)
    space.files.export(tmp_path / "s.jsonl", derived=True)
    profile = space.overview.core_profile()
    memory.admin.delete_space(space_name)
    assert space.overview.core_profile() is None and space.overview.procedures() == []
    space.files.load(tmp_path / "s.jsonl")
    assert space.overview.core_profile() == profile


@pytest.mark.slow
def test_two_workers_do_not_overwrite_each_other(memory, stages, space_name):
    """A profile that has moved on meanwhile gets the appended line, and keeps what was added."""
    space = memory.space(space_name)

    def meanwhile(prompt: Prompt) -> Any:
        stages.answers["core"] = []
        stages.then("core", {"operation": "APPEND", "content": "Has a dog."})
        space.add("I have a dog.", id="m9", session="other", speaker="Mara", at=at(9))
        other = MemBuilderExtractor(ScriptedModel(stages, name="test"))
        engine = space._engine
        from cognigraph.ingest.queue.enricher import Enricher

        Enricher(engine.store, engine.embedder, other, engine.settings.enrich, engine.clock).drain(
            space.name
        )
        return {"operation": "APPEND", "content": "Lives in Graz."}

    class First:
        done = False

        def __call__(self, prompt: Prompt) -> Any:
            if prompt.name == "core" and not First.done:
                First.done = True
                return meanwhile(prompt)
            return stages(prompt)

    slow = MemBuilderExtractor(ScriptedModel(First(), name="test"))
    engine = space._engine
    from cognigraph.ingest.queue.enricher import Enricher

    tell(space, "I live in Graz.")
    Enricher(engine.store, engine.embedder, slow, engine.settings.enrich, engine.clock).drain(
        space.name
    )
    assert space.overview.core_profile(1).text == "Has a dog."
    assert space.overview.core_profile().text == "Has a dog.\nLives in Graz."


@pytest.mark.slow
@pytest.mark.above_stores
def test_the_profile_and_procedures_reach_the_answers_of_ask(open_memory, stages, space_name):
    """They are in the block that is judged and in the one that is answered from."""
    stages.then("core", {"operation": "APPEND", "content": "Works night shifts."})
    stages.then("procedural", {"operations": [{
        "action": "ADD", "title": "Making coffee", "context": "French press",
        "steps": ["grind coarsely", "press"], "turns": "1"}]})  # fmt: skip
    extractor = MemBuilderExtractor(ScriptedModel(stages, name="test"))
    prompts: list[Prompt] = []
    answers = {
        "lico-missing": {"verdict": "enough", "missing": "", "queries": []},
        "loop-answer": {"answer": "Coarsely.", "labels": []},
    }

    def reply(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return answers[prompt.name]

    model = ScriptedModel(reply)
    space = open_memory(extractor=extractor, model=model).space(space_name)
    tell(space, "After my night shift I grind my coffee coarsely.")
    space.flush()
    answer = space.ask("How does Mara make coffee?", now=at(60))
    written = (
        "Profile:\n  Works night shifts.\n"
        "Procedures:\n  Making coffee (French press): 1. grind coarsely 2. press\n"
    )
    assert answer.text == "Coarsely."
    assert written in str(answer.context)
    assert [prompt.name for prompt in prompts] == ["lico-missing", "loop-answer"]
    assert all(written in prompt.user for prompt in prompts)
    plain = space.context("How does Mara make coffee?", now=at(60))
    assert str(plain) == str(answer.context)


MOVE = {"action": "ADD", "title": "The move", "turns": "1", "memory": "Mara moves to Graz."}
WENT = {"action": "ADD", "title": "A walk", "turns": "1", "memory": "2026-05: Mara walks home."}


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_entry_is_continued_in_another_session_and_stays(memory, stages, space_name):
    """The writer sees what is similar anywhere; an update is a new entry made out of the old."""
    space = memory.space(space_name)
    stages.then("episodic", {"operations": [MOVE, WENT]})
    tell(space, "I am moving to Graz, I walk home now.", session="one")
    space.queue.enrich()
    stages.then("episodic", {"operations": [
        {"action": "UPDATE", "target": "E1", "title": "The move", "turns": "1",
         "memory": "2026-05-20 09:01: the boxes arrive in Graz."}]})  # fmt: skip
    tell(space, "The boxes of the move to Graz have arrived.", session="two", first=1)
    space.queue.enrich()
    first, second = stages.prompts("episodic")
    assert "<episodes>\n-\n</episodes>" in first
    day = f"{START:%Y-%m-%d}"
    assert f"E1. The move: {day}: Mara moves to Graz." in second  # dated by its turn
    assert "E2. A walk: 2026-05: Mara walks home." in second
    episodes = {
        episode.session: episode
        for episode in space.overview.episodes()
        if episode.title == "The move"
    }
    assert episodes["one"].summary == f"{day}: Mara moves to Graz."
    assert episodes["two"].summary == "2026-05-20 09:01: the boxes arrive in Graz."
    links = "MATCH (a:Theme)-[:DERIVED_FROM]->(b:Theme) RETURN a.summary AS a, b.summary AS b"
    made_of = [{"a": episodes["two"].summary, "b": episodes["one"].summary}]
    assert space.cypher(links) == made_of

    stages.then("episodic", {"operations": []})
    tell(space, "And I like it here.", session="one", first=2)  # rewrites the themes of this one
    space.queue.enrich()
    assert space.cypher(links) == made_of

    space.forget(message="m0")  # what was made out of it may quote it: read again
    assert [
        episode.title for episode in space.overview.episodes() if episode.reason == "topic"
    ] == []
    assert "Mara moves" not in str(space.cypher("MATCH (n) RETURN n", limit=1000))
    stages.then("episodic", {"operations": [WENT]})
    space.queue.enrich()
    assert [episode.session for episode in space.overview.episodes() if episode.title == "A walk"]


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_updated_fact_is_superseded_whatever_the_wording(memory, stages, space_name):
    def update(prompt: Prompt) -> Any:
        (line,) = [line for line in prompt.user.splitlines() if "drinks espresso" in line]
        fact = "1 | Mara | gets up for | green tea"
        target = line.partition(".")[0]
        return {"operations": [{"action": "UPDATE", "target": target, "fact": fact}]}

    space = memory.space(space_name)
    stages.then("semantic", {"operations": [
        {"action": "ADD", "fact": "1 | Mara | drinks | espresso"},
        {"action": "ADD", "fact": "1 | Mara | drinks | water"}]}, update)  # fmt: skip
    tell(space, "Two espressos, and water.")
    space.queue.enrich()
    tell(space, "Green tea it is now.", first=1)
    space.queue.enrich()
    facts = {fact.text: fact for fact in space.facts(status=None)}
    old, new = facts["Mara drinks espresso"], facts["Mara gets up for green tea"]
    assert (old.status, new.status) == ("superseded", "current")
    assert (old.superseded_by, old.valid_to) == (new.uid, at(1))
    assert facts["Mara drinks water"].status == "current"
    space.review.restore(old)  # a user's word counts: no writer undoes it
    stages.then("semantic", {"operations": [
        {"action": "ADD", "fact": "1 | Mara | drinks | espresso"},
        {"action": "ADD", "fact": "1 | Mara | drinks | water"}]}, update)  # fmt: skip
    assert space.queue.redo() == 2
    space.queue.enrich()
    assert len(stages.prompts("semantic")) > 2
    assert "Mara drinks espresso" in {fact.text for fact in space.facts()}


@pytest.mark.above_stores
def test_writers_write_at_the_same_time(open_memory, space_name):
    """None of the four gets its answer before all of them have asked."""
    together = Barrier(4, timeout=20)

    def reply(prompt: Prompt) -> Any:
        together.wait()
        return QUIET[prompt.name]

    recorded: list[Any] = []
    extractor = MemBuilderExtractor(ScriptedModel(reply), record=recorded.append)
    space = open_memory(extractor=extractor).space(space_name)
    tell(space, "I live in Graz.")
    (step,) = space.queue.enrich()
    assert step.usage.calls == 4 and not step.rejected
    assert [call.writer for call in recorded] == ["core", "episodic", "semantic", "procedural"]
    assert len({call.window for call in recorded}) == 1
    assert {(call.at, call.turns) for call in recorded} == {(at(0).isoformat(), 1)}


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_answer_from_the_whole_profile_and_the_most_similar_memories(
    open_memory, stages, space_name
):
    """The profile is not cut to a share of the block; of what is stored, the ten nearest stand."""
    profile = "\n".join(f"Line {number} of what Mara is like." for number in range(40))
    stages.then("core", {"operation": "REWRITE", "content": profile})
    stages.then("procedural", {"operations": [PRESS]})
    stages.then("episodic", {"operations": [WENT]})
    prompts: list[Prompt] = []

    def reply(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return {"answer": "Coarsely.", "labels": ["E1", "F9"]}

    extractor = MemBuilderExtractor(ScriptedModel(stages, name="test"))
    space = open_memory(extractor=extractor, model=ScriptedModel(reply)).space(space_name)
    tell(space, "I live in Graz and walk home. I grind my coffee coarsely.")
    space.flush()
    answer = space.ask("How does Mara make coffee at home?", strategy="membuilder", now=at(60))
    assert (answer.text, answer.stopped, answer.usage.calls) == ("Coarsely.", "no new query", 1)
    block = str(answer.context)
    assert "".join(f"\n  {line}" for line in profile.splitlines()) in block
    assert "\nProcedures:\n  Making coffee (French press): 1. grind coarsely" in block
    assert "2026-05: Mara walks home." in block and "lives in Graz" in block
    assert [(citation.label, citation.kind) for citation in answer.citations] == [("E1", "episode")]
    assert block in prompts[0].user
    small = space.context("How does Mara make coffee?", 120, strategy="membuilder", now=at(60))
    assert small.tokens <= 120 and "Line 0 of" in str(small)
    hidden = space.context(
        "How does Mara make coffee?", strategy="membuilder", now=at(60), where=Filter(session="x")
    )
    assert "Line 0" not in str(hidden) and "Mara" not in str(hidden)


@pytest.mark.above_stores
def test_without_any_memory_the_messages_are_searched(open_memory, space_name):
    space = open_memory(enrich="manual").space(space_name)
    tell(space, "The grinder stands beside the window.")
    answer = space.ask("Where does the grinder stand?", strategy="membuilder", now=at(60))
    assert "beside the window" in str(answer.context)
    assert answer.rounds[0].notes == ("no memory was found: messages were searched instead",)
