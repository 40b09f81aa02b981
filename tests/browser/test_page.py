"""What somebody sees and does on the page of ``cognigraph serve``."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from cognigraph import Memory
from tests.browser.conftest import HOSTILE

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)

VIEWS = {
    "default": "Conversations",
    "default/sessions?q=Where+does+Ann+live%3F": "Conversations",
    "default/conversation/ann-moves": "ann-moves",
    "default/facts?entity=Ann": "Facts",
    "default/entities": "Entities",
    "default/entity/Ann": "Ann",
    "default/ask?q=Where+does+Ann+live%3F&expected=b1&compare=1": "Playground",
    "default/graph": "Graph",
    "default/cypher?name=hubs": "Cypher",
    "default/duplicates": "Duplicates",
    "default/import": "Import",
    "default/work": "Queue",
    "default/forget": "Forget",
}


def test_every_view_is_accessible_in_both_themes_and_fits_a_phone(visit):
    """The themes differ in their colours, so the dark one is asked about its contrast only."""
    axe, contrast = Axe(), {"runOnly": ["color-contrast"]}
    for view, heading in VIEWS.items():
        for theme, rules in (("light", {}), ("dark", contrast)):
            page = visit(view)
            page.evaluate("theme => (document.documentElement.dataset.theme = theme)", theme)
            expect(page.locator("main h1")).to_have_text(heading)
            found = [
                (violation["id"], [node["html"][:120] for node in violation["nodes"]])
                for violation in axe.run(
                    page, options={"resultTypes": ["violations"], **rules}
                ).response["violations"]
                if violation["impact"] in ("serious", "critical")
            ]
            assert found == [], f"{view} in the {theme} theme"
        page.set_viewport_size({"width": 320, "height": 640})
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320, f"{view} is {width} pixels wide on a phone"
        page.set_viewport_size({"width": 1200, "height": 900})


def test_a_conversation_shows_each_turn_with_the_facts_from_it(visit):
    page = visit("default/conversation/ann-moves?m=b2")
    turns = page.locator("li.turn")
    expect(turns).to_have_count(3)
    expect(turns.nth(0).locator(".text")).to_have_text("I live in Bergen.")
    expect(turns.nth(0).locator(".fact")).to_contain_text("Ann lives in Bergen")
    expect(turns.nth(0).locator(".badge.warning")).to_have_text("superseded")
    expect(turns.nth(1)).to_have_class(re.compile("wanted"))


def test_text_of_messages_is_never_read_as_html(visit, page, served):
    session = quote(f"notes/{HOSTILE}", safe="")
    visit(f"default/conversation/{session}")
    expect(page.locator("h1")).to_have_text(f"notes/{HOSTILE}")
    expect(page.locator("li.turn .text")).to_have_text(f"Look at this: {HOSTILE}")
    visit("default/sessions?q=" + quote(HOSTILE, safe=""))
    expect(page.locator(".row-text").first).to_contain_text("onerror")
    visit("default/ask?q=Look+at+this")
    expect(page.locator("pre.block-text")).to_contain_text("<script>")
    assert page.locator("main script, main img").count() == 0
    assert "owned" not in page.title()


def test_the_graph_of_an_entity_follows_the_time_at_which_facts_were_known(visit):
    page = visit("default/entity/Ann")
    caption = page.locator(".caption")
    expect(caption).to_contain_text("superseded or retracted")
    known = page.get_by_label(re.compile("^Known at"))
    known.focus()
    known.press("Home")
    expect(caption).to_have_text("1 current fact")
    expect(page.locator("[role=img]")).to_have_attribute(
        "aria-label", re.compile("Graph around Ann: 1 current fact")
    )
    known.press("End")
    valid = page.get_by_label(re.compile("^True at"))
    valid.press("End")
    expect(caption).not_to_contain_text("superseded")
    changed = page.locator(".timeline li")
    expect(changed.nth(0)).to_contain_text("Ann lives in Bergen")
    expect(changed.nth(1)).to_contain_text("Oslo")


def test_the_playground_shows_the_ranking_and_the_block_that_python_gets(visit, served):
    page = visit("default/ask?q=Where+does+Ann+live+now%3F&expected=b3")
    first = page.locator("ol.hits > li").first
    expect(first.locator(".row-text")).to_have_text("I moved to Oslo last week.")
    first.locator("summary").click()
    expect(first.locator("caption")).to_contain_text("semantic")
    with Memory(served.file, enrich="manual") as memory:
        block = str(memory.context("Where does Ann live now?", 1300, k=10))
        verdict = memory.why("Where does Ann live now?", "b3", k=10).verdict
    assert page.locator("pre.block-text").inner_text().strip() == block.strip()
    expect(page.locator("section.panel strong").first).to_have_text(verdict)
    page.get_by_label("Compare two settings").check()
    page.locator("[name=kB]").fill("1")
    page.get_by_role("button", name="Ask").click()
    columns = page.get_by_role("region", name=re.compile("Results of setting"))
    expect(columns).to_have_count(2)
    expect(columns.nth(1).locator("ol.hits > li")).to_have_count(1)


def test_forgetting_shows_what_would_go_and_wants_a_confirmation(visit, served):
    page = visit("default/forget")
    page.get_by_role("button", name="See what would go").click()
    expect(page.get_by_role("alert")).to_contain_text("Say which messages")
    page.get_by_label("Conversation").fill("ann-in-oslo")
    page.get_by_role("button", name="See what would go").click()
    expect(page.locator("table")).to_contain_text("messages")
    button = page.get_by_role("button", name="Forget 2 messages for good")
    expect(button).to_be_disabled()
    page.get_by_label("Type the word forget to confirm").fill("forget")
    button.click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    with Memory(served.file, enrich="manual") as memory:
        assert memory.get("o1") is None
        assert memory.get("b1") is not None


def test_duplicates_are_merged_and_split(visit, served):
    with Memory(served.file, enrich="manual") as memory:
        memory.review.merge("Luna", "Ben")
    page = visit("default/duplicates")
    row = page.locator("li.row", has_text="Luna into Ben")
    expect(row).to_contain_text("by user")
    row.get_by_role("button", name="Split").click()
    expect(row).to_have_count(0)


def test_the_keyboard_reaches_every_view(visit):
    page = visit("default")
    for key, heading in {"e": "Entities", "t": "Facts", "g": "Graph", "p": "Playground",
                         "y": "Cypher", "d": "Duplicates", "i": "Import", "q": "Queue",
                         "f": "Forget", "c": "Conversations"}.items():  # fmt: skip
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.locator("main h1")).to_have_text(heading)
    page.keyboard.press("/")
    expect(page.get_by_label("Search the messages of this space")).to_be_focused()
    page.keyboard.type("Where is the fish market?")
    page.keyboard.press("Enter")
    expect(page.locator(".row-text").first).to_contain_text("fish market")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_server_with_keys_asks_for_one(visit, served):
    key = served.keys.create("reader", ["read"], ["default"])
    page = visit("")
    expect(page.locator("h1")).to_have_text("An API key is needed")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("h1")).to_have_text("Conversations")
    # The browser reports the refused request; nothing else.
    assert all("401" in problem for problem in served.problems)
    served.problems.clear()


def test_the_api_is_described_and_tried_out_in_swagger(page, served):
    page.goto(f"{served.address}/docs")
    route = page.locator("#operations-questions-search")
    route.locator(".opblock-summary-control").click()
    expect(route).to_contain_text("Find the messages most relevant to a question")
    route.locator("button.try-out__btn").click()
    route.locator("input[placeholder=space]").fill("default")
    route.locator("textarea.body-param__text").fill('{"question": "Where does Ann live?", "k": 1}')
    route.locator("button.execute").click()
    answer = route.locator(".live-responses-table .response-col_description .highlight-code").first
    expect(answer).to_contain_text("I moved to Oslo last week.")
    loaded = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    assert loaded and all(name.startswith(served.address) for name in loaded)
