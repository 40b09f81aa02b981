"""Natural keys: equal items have one uid, different items have different uids."""

from __future__ import annotations

from cognigraph import ids
from cognigraph.ids import normalise, uid
from tests.cases import each


def test_a_uid_is_128_bits_of_hex_and_never_changes():
    # Stored in every database: a change here orphans all existing data.
    assert uid("Chunk", "a", "b") == "c5e05500368c31a05ef2c00d48b0e99e"
    assert uid("Entity", "s", "oslo", "location") == uid("Entity", "s", "oslo", "location")
    assert len(uid("Chunk")) == 32


def test_parts_are_not_just_joined():
    variants = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("a", "b", "c"), ()]
    assert len({uid("Key", *parts) for parts in variants}) == len(variants)


def test_labels_are_namespaces():
    assert len({uid(label, "x") for label in ("Session", "Key", "Chunk", "Entity", "Triple")}) == 5


@each(
    ("left", "right"),
    [
        ("Oslo", "  oslo "),
        ("New  York", "new york"),
        ("STRASSE", "straße"),
        ("ﬁsh", "fish"),
        ("Ｏｓｌｏ", "oslo"),
        ("cafe\u0301", "caf\u00e9"),
        ("“Oslo”", "Oslo"),
        ("(the fjord)", "the fjord"),
        ("Oslo.", "Oslo"),
        ("Really?!", "really"),
        ("a\u00a0b\tc", "a b c"),
    ],
)
def test_spellings_of_one_name(left, right):
    assert normalise(left) == normalise(right)


@each(
    ("left", "right"),
    [
        ("C", "C++"),
        ("C++", "C#"),
        ("A+", "A-"),
        ("net", ".NET"),
        ("5", "-5"),
        ("राम", "रामा"),  # a final vowel sign is a letter's part, not punctuation
        ("हिन्द", "हिन्दी"),
        ("Oslo", "Olso"),
        ("room 1", "room 11"),
        ("!", "?"),
        ("🙂", "🙃"),
    ],
)
def test_different_names_stay_apart(left, right):
    assert normalise(left) != normalise(right)
    assert ids.entity_uid("s", left, "concept") != ids.entity_uid("s", right, "concept")


def test_punctuation_only_names_keep_it():
    assert normalise(" ?! ") == "?!"
    assert normalise("") == ""


def test_each_part_of_a_natural_key_counts():
    base = ("s", "subject", "likes", "object", None, False)
    variants = [
        base,
        ("t", *base[1:]),
        ("s", "other", *base[2:]),
        ("s", "subject", "hates", *base[3:]),
        ("s", "subject", "likes", "other", None, False),
        ("s", "subject", "likes", "object", "2023", False),
        ("s", "subject", "likes", "object", None, True),
    ]
    assert len({ids.triple_uid(*variant) for variant in variants}) == len(variants)
    assert ids.triple_uid("s", "a", "Lives  in", "b", None, False) == ids.triple_uid(
        "s", "a", "lives in", "b", None, False
    )


def test_spaces_and_sessions_separate():
    assert ids.session_uid("a", "bc") != ids.session_uid("ab", "c")
    assert ids.message_uid("s", "x", "1") != ids.message_uid("s", "y", "1")
    assert ids.key_uid("a", "k") != ids.key_uid("b", "k")
    assert ids.theme_uid("s", "x", "t") != ids.theme_uid("s", "y", "t")
    assert ids.entity_uid("s", "Apple", "organization") != ids.entity_uid("s", "Apple", "object")


def test_parts_of_a_message_and_twins():
    message = ids.message_uid("s", "x", "1")
    assert len({ids.chunk_uid(message, part) for part in range(100)}) == 100
    twins = {ids.anonymous_message_uid("s", "x", "Ann", "hi", "2026", n) for n in range(3)}
    assert len(twins) == 3


def test_no_callers_id_can_be_an_anonymous_messages_key():
    anonymous = ids.anonymous_message_uid("s", "x", "Ann", "hi", "2026", 0)
    for id in ("", "Ann", "Annhi20260", "\0Ann"):
        assert ids.message_uid("s", "x", id) != anonymous


def test_lone_surrogates_are_hashed_not_refused():
    assert uid("Key", "\ud800") != uid("Key", "\ud801") != uid("Key", "\ufffd")
