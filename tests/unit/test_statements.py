"""What the rules state for certain, and all that they leave alone."""

from __future__ import annotations

from datetime import UTC, datetime

from cognigraph.english.sentences import sentences
from cognigraph.english.times.find import find_times
from cognigraph.ingest.rules.statements import statements
from tests.cases import each

AT = datetime(2026, 5, 22, 12, 0, tzinfo=UTC)


def told(text: str, *, to_assistant: bool = True) -> list[str]:
    said = [(sentence, find_times(sentence.tokens, AT), True) for sentence in sentences(text)]
    found = statements(said, text, "Ann", to_assistant=to_assistant)
    return [
        " ".join(
            filter(
                None, (item.subject, "not" * item.negated, item.relation, item.object, item.when)
            )
        )
        for item in found
    ]


@each(
    ("text", "facts"),
    [
        # said in passing: what stands before and after says nothing of the clause
        ("ok so i live in York now, and the rent is mad", ["Ann lives in York"]),
        (
            "hi! quick background: I'm 34 and I work for Fiat 🎉",
            ["Ann is 34 years old", "Ann works at Fiat"],
        ),
        ("haha no, I'm vegetarian. Any ideas for dinner?", ["Ann is vegetarian"]),
        ("I'm vegan, so what can I cook?", ["Ann is vegan"]),
        ("I'm left-handed btw, does that matter?", ["Ann is left-handed"]),
        ("I'm left-handed. I can't wait to play.", ["Ann is left-handed"]),
        ("our dog is called Biscuit btw", ["Biscuit is dog of Ann"]),
        ("I live in Leeds and I might be late.", ["Ann lives in Leeds"]),
        ("I'm allergic to nuts, so no walnuts please", ["Ann is allergic to nuts"]),
        ("I have a cat called Luna and a dog called Bruno.", ["Luna is cat of Ann"]),
        (
            "I work as a vet tech at a small clinic in Leeds so I'm on my feet.",
            ["Ann works as vet tech at a small clinic in Leeds"],
        ),
        ("My new boss is Lars.", ["Lars is boss of Ann"]),
        # nobody is "he" or "she"
        ("My sister Ida met Tom, he's a nurse.", ["Ida is sister of Ann"]),
        (
            "My sister Ida and my aunt Jo came. She's a nurse.",
            ["Ida is sister of Ann", "Jo is aunt of Ann"],
        ),
        # what is taken for granted stays under a doubt or a question
        (
            "my daughter Ottilie left her terrier with me till christmas",
            ["Ottilie is daughter of Ann"],
        ),
        ("If my brother Tom comes, who cooks?", ["Tom is brother of Ann"]),
        ("Jas told me. Jas is my flatmate", []),
        ("I've got two cats, Miso and Tofu", ["Ann has two cats"]),
        ("We use VS Code, and I'm vegan.", ["Ann is vegan"]),
        ("I no longer live in Leeds.", ["Ann not lives in Leeds"]),
        ("we moved from Leeds to York in March :)", ["Ann moved to York 2026-03"]),
        ("I gave up smoking.", ["Ann stopped smoking"]),
        ("I live in Oslo now, near the park.", ["Ann lives in Oslo"]),
        ("Please keep answers short.", ["Ann asks to always keep answers short"]),
        ("I'd like you to always use metric units", ["Ann asks to always use metric units"]),
        ("So keep it short from now on, please.", ["Ann asks to always keep it short"]),
        ("I live in Leeds.", ["Ann lives in Leeds"]),
        ("So I live in Leeds, near the canal.", ["Ann lives in Leeds"]),
        ("I'm based in York, UK now!", ["Ann lives in York, UK"]),
        ("We moved to Paris last week.", ["Ann moved to Paris 2026-05-11/2026-05-17"]),
        (
            "I live in Bristol and I work as a nurse.",
            ["Ann lives in Bristol", "Ann works as nurse"],
        ),
        ("I'm a nurse at the Royal Free.", ["Ann works as nurse at the Royal Free"]),
        ("I'm a nurse at Leeds General.", ["Ann works as nurse at Leeds General"]),
        ("My sister works at Fiat.", ["Ann's sister works at Fiat"]),
        (
            "My sister Klara Quist lives in Bergen.",
            ["Klara Quist is sister of Ann", "Klara Quist lives in Bergen"],
        ),
        ("I'm allergic to shellfish.", ["Ann is allergic to shellfish"]),
        (
            "I'm allergic to peanuts, walnuts and cashews.",
            ["Ann is allergic to peanuts, walnuts and cashews"],
        ),
        ("Important: I have a serious cashew allergy, pen and all.", ["Ann is allergic to cashew"]),
        ("My son has a nut allergy.", ["Ann's son is allergic to nut"]),
        ("I'm vegan.", ["Ann is vegan"]),
        ("I don't eat meat.", ["Ann not eats meat"]),
        ("I really love hiking but I don't eat meat.", ["Ann loves hiking", "Ann not eats meat"]),
        ("My landlord is called Mr Pettifer.", ["Mr Pettifer is landlord of Ann"]),
        ("So I'm allergic to penicillin, it was scary.", ["Ann is allergic to penicillin"]),
        ("My rent is 1,150 euros a month.", ["Ann's rent is 1,150 euros a month"]),
        ("Just so you know, I'm vegan :)", ["Ann is vegan"]),
        ("So please call me Dr Okafor.", ["Ann is called Dr Okafor"]),
        ("My daughter is 5 years old.", ["Ann's daughter is 5 years old"]),
        ("I have two cats.", ["Ann has two cats"]),
        ("My birthday is on 3 June.", ["Ann's birthday is 3 June"]),
        ("My phone number is 0160 555 0199.", ["Ann's phone number is 0160 555 0199"]),
        ("My new number is 0160 555 0199.", ["Ann's number is 0160 555 0199"]),
        ("My manager's Helen Brackley, she's good.", ["Helen Brackley is manager of Ann"]),
        ("Klara is my boss.", ["Klara is boss of Ann"]),
        ("I went there with my friend Priya.", ["Priya is friend of Ann"]),
        ("I have a dog called Rex.", ["Rex is dog of Ann"]),
        ("Call me Sam.", ["Ann is called Sam"]),
        ("Hi, my name is Zoë.", ["Ann is called Zoë"]),
        ("My email is ann@example.com.", ["Ann's email is ann@example.com"]),
        ("My birthday is May 4.", ["Ann's birthday is May 4"]),
        ("My timezone is Europe/Berlin.", ["Ann's timezone is Europe/Berlin"]),
        ("We live in Leeds.", ["Ann lives in Leeds"]),
        ("I don't like mushrooms.", ["Ann not likes mushrooms"]),
        ("I hate olives and capers.", ["Ann hates olives and capers"]),
        ("Tom really likes pizza.", ["Tom likes pizza"]),
        ("Please always answer in German.", ["Ann asks to always answer in German"]),
        ("From now on give me paces per km.", ["Ann asks to always give me paces per km"]),
        ("Can you always use tabs, please?", ["Ann asks to always use tabs"]),
        (
            "I'm allergic to shellfish so don't ever suggest prawns",
            ["Ann is allergic to shellfish", "Ann asks to never suggest prawns"],
        ),
    ],
)
def test_what_is_told_plainly(text: str, facts: list[str]) -> None:
    assert sorted(told(text)) == sorted(facts)


@each(
    "text",
    [
        # what reaches over several clauses, jokes, words that look like others
        "I wish I lived by the sea and I had two dogs.", "She said I'm a nurse and I'm vegan.",
        "So if I live in Leeds, and I work at Fiat, do I pay tax?", "I live in Leeds, don't I?",
        "In case I'm vegan, cook beans.", "My husband is Brad lol", "I work at Fiat haha",
        "Once I'm retired, I love Spain.", "I live in Rome, in my head.", "I'm at Lidl now.",
        "I switched from sofa to bed.", "I joined Tom for lunch.", "I play the fool.",
        "I work for a living.", "I work at a snail's pace.", "I'm pregnant with ideas.",
        "I live in Rome lol", "our dog is called Brad haha",
        "My guess is 12.", "I was born yesterday.", "// never call this from the main thread",
        "Never add salt to the water.", "Always use a clean knife.",
        "Preheat the oven and always grease the tin.", "Stop asking questions.",
        "I want to note it and use it from now on.",
        # questions, conditions, doubts, wishes, plans
        "Do I live in Leeds?",
        "If I'm allergic to cats, I sneeze.", "I think I'm allergic to cats.",
        "I wish I lived in Leeds.", "Klara is my boss, I think.",
        "I live in Leeds, I guess.", "I might be allergic to nuts.",
        "Suppose I live in Leeds.",
        "I want to live in Leeds.", "I'm allergic to nuts unless cooked.",
        # taken back
        "I live in Leeds, but not for long.", "I live in Leeds, or rather I used to.",
        "I'm vegan. Just kidding!", "My name is Zed. Scratch that.", "I live in Leeds. Not really.",
        "I live in Leeds, no wait, in York.",
        "my cousin Tom... wait, that's Ida's cousin",
        "My cousin Tom is here. Oh wait, that was Ida's.",
        # of the past, of others, unreal
        "I lived in Leeds.", "I used to live in Leeds.", "She said I live in Leeds.",
        'He said "I live in Leeds."', "In my dream I live in Leeds. I have two cats.",
        "Translate this: I live in Leeds.", "Act as a chef. My name is Luigi.",
        "Dear Sam,\nI live in Leeds.", "In the film my name is Zed.",
        "Fix my text:\nI live in Leeds.",
        # an argument is elsewhere
        "I love it.", "I like the second one.", "I prefer white.", "My favourite part is the end.",
        "I like your idea.", "I like Kirsty.", "I like Swanport Sallies.",
        "i like yusuf", "I'm allergic to meetings (and to sesame)",
        "My dog is great.", "My boss is nice.", "I love hiking, in theory, and",
        "I don't like it.", "I hate when this happens.", "I hate you.",
        # words that look like others
        "Either like make an arrow directly or put a new node.", "Others love jazz.",
        "Neither likes pizza.", "Parents live in Leeds.",
        "I live in fear.", "I moved to Neovim last month.", "Never mind the bugs.",
        "Always happy to help!", "So much energy and love everywhere.", "I never drink coffee.",
        "My point is Clear.", "Use tabs.", "My sister is Irish.", "Coffee is my best friend.",
        "I'm allergic to commitment.", "I'm allergic to Mondays.", "Academia loves tradition.",
        "My mother Teresa impression is great.", "My birthday is next Friday.", "Never give up!",
        "My phone number is 42.", "I work for Anna.", "We live in Times of Trouble.",
        # said by somebody else, or under a frame
        "She was like, I'm a nurse.", "He goes, I live in Leeds.", "Client: I live in Leeds.",
        "For the exercise, I'm vegan and I live in Leeds.", "Always use tabs, they say.",
        "Always use tabs?", "I'm 5 years old, explain it to me.", "My knee is 58 as well.",
    ],
)  # fmt: skip
def test_what_is_not_certain_is_no_fact(text: str) -> None:
    assert told(text) == []


def test_orders_are_for_an_assistant() -> None:
    assert told("Always answer in German.", to_assistant=False) == []


def test_a_pasted_document_states_nothing() -> None:
    assert told("I live in Leeds.\n" + "And so it goes.\n" * 6) == []
