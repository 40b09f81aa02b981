"""Who the user is: names that they give themselves, and questions about "me"."""

from __future__ import annotations

from datetime import UTC, datetime

from cognigraph.ingest import Mention
from cognigraph.ingest.derive import own_names, users
from cognigraph.retrieve.question.analyse import analyse, with_asker
from cognigraph.stores.records import WorkChunk
from tests.cases import each

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@each(
    ("text", "names"),
    [
        ("My name is Ann.", ("Ann",)),
        ("By the way, my name's Ann Berg and I live in Oslo.", ("Ann Berg",)),
        ("Please call me Sam", ("Sam",)),
        ("Hi, I'm Ann!", ("Ann",)),
        ("I’m Jean-Luc, from Lyon.", ("Jean-Luc",)),
        ("Hello there! I am Zoë and I need help.", ("Zoë",)),
        ("My name is Samuel, but call me Sam.", ("Samuel", "Sam")),
        ("I am Norwegian.", ()),
        ("Hi, I'm Catholic and curious.", ()),
        ("I'm Happy to help", ()),
        ("I'm happy.", ()),
        ("Call me tomorrow. Call me Monday.", ()),
        ("Don't call me Annie!", ()),
        ("Her name is Ann.", ()),
        ('Rewrite: "My name is Bob."', ()),
        ("He wrote “Call me Ishmael”.", ()),
        ("> Hi, I'm Bob.", ()),
        ("```\nmy name is Bob\n```", ()),
        ("x" * 400 + " My name is Bob.", ()),
        ("Yesterday I'm Ann was what she said", ()),
    ],
)
def test_what_a_speaker_says_their_name_is(text, names):
    assert own_names(text) == names


def test_a_user_is_called_user_too():
    said = [
        ("Ann", "user", "I live in Oslo."),
        ("user", "user", "Call me Sam."),
        ("user", "user", "Hello."),
        (None, "user", "My name is Kim."),
        ("Ben", None, "My name is Ben Berg."),
        ("assistant", "assistant", "Call me Max."),
    ]
    chunks = [
        WorkChunk(f"u{n}", f"m{n}", "s", speaker, NOW, text, role=role)
        for n, (speaker, role, text) in enumerate(said)
    ]
    assert users(chunks) == [
        Mention("Ann", "person", (0,), ("user",)),
        Mention("user", "person", (1,), ("Sam",)),
        Mention("user", "person", (3,), ("Kim",)),
    ]


@each(
    ("question", "is_own"),
    [
        ("Where do I live?", True),
        ("where did i park", True),
        ("What's my sister's name?", True),
        ("Who gave me the book?", True),
        ("Tell me about Ann.", False),
        ("Remind me what I said.", True),
        ("Where does Ann live?", False),
        ("What is in Miami?", False),
    ],
)
def test_a_question_about_the_one_who_asks(question, is_own):
    found = analyse(question, NOW)
    assert found.is_own == is_own
    assert ("user" in with_asker(found, ()).anchors) == is_own
    assert ("ann berg" in with_asker(found, ("Ann Berg",)).anchors) == is_own
