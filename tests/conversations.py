"""Conversations of real sentences whose extraction depends on the sentences before them."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from cognigraph import Message
from tests.conftest import START

KIN = """
My sister {name} moved to {place} in May.
My sister bought a kayak.
My sister's dog is a beagle.
My brother {name} plays chess.
My brother hates chess.
{name}, my aunt, runs a bakery.
{name} is my sister.
My mom called yesterday.
Mom sent me a parcel.
My wife {name} and I adopted a cat named Luna.
"""
PRONOUNS = """
She loves it there.
She bought a boat.
He sold the boat last week.
It was expensive.
They moved to {place}.
Her name is Luna.
His name is Rex.
She told me that he moved to {place}.
"""
NAMES = """
{name} bought a violin.
{name} visited us in {place}.
I met {name} in {place}.
{name} said that {name} got married.
I work with {name} at Helios.
Kayak was a bad idea.
Luna sleeps a lot.
Rex and Luna fight.
Thanks {name}!
"""
ALIASES = """
Call me Sam.
Everybody calls me Bob.
Robert, whom everybody calls Bob, bakes bread.
{name}, also known as Annie, paints boats.
My friend {name} goes by Cleo.
"""
OTHERS = """
You bought a farm!
You told me about {name}.
No, I meant {place}, not Oslo.
Actually {name} moved to {place} in June.
Have you seen {name}?
I never said that {name} lives in {place}.
[photo: a red kayak] Look at this.
Nice!
I like tea. I hate coffee. {name} likes both.
If {name} comes, I will cook.
"""
SENTENCES = [
    line
    for group in (KIN, PRONOUNS, PRONOUNS, NAMES, ALIASES, OTHERS)
    for line in group.strip().splitlines()
]
PEOPLE = [
    "Anna", "Anna Berg", "Anna Holm", "Cleo", "Sam", "Samuel", "Samuel Reed", "Robert", "Bob",
    "Mel", "Melanie", "Dr. Berg", "ANNA",
]  # fmt: skip
PLACES = ["Oslo", "Bergen", "Rome"]
SPEAKERS = ["Tom", "Eva", "Melanie Holm", None]


def conversation(random: Random, turns: int, *, ties: bool = False) -> list[Message]:
    """Turns of up to three sessions, in time order; with ``ties`` some have the same time."""
    sessions = {name: random.sample(SPEAKERS, random.choice([1, 2, 2, 3])) for name in "abc"}
    messages = []
    for number in range(turns):
        session = random.choice("aaabc")
        said = " ".join(_sentence(random) for _ in range(random.choice([1, 1, 1, 2, 3])))
        messages.append(
            Message(
                text=said,
                id=str(number),
                session=session,
                speaker=random.choice(sessions[session]),
                at=START + timedelta(minutes=number // 2 if ties else number),
            )
        )
    return messages


def _sentence(random: Random) -> str:
    sentence = random.choice(SENTENCES)
    while "{" in sentence:
        sentence = sentence.replace("{name}", random.choice(PEOPLE), 1)
        sentence = sentence.replace("{place}", random.choice(PLACES), 1)
    return sentence
