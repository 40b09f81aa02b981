"""What somebody changes, imports and asks on the page of ``cognigraph serve``."""

from __future__ import annotations

import json
import random
import re

import pytest
from playwright.sync_api import expect

from cognigraph import Memory
from cognigraph.llm import ChatModel
from tests.browser.conftest import HOSTILE
from tests.servers.applications import application
from tests.servers.in_thread import in_thread
from tests.servers.loop_stages import LoopStages
from tests.servers.model_server import ModelServer

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)


def facts(served, **wanted):
    with Memory(served.file, enrich="manual") as memory:
        return {(fact.text, fact.status) for fact in memory.facts(**wanted)}


def test_a_view_without_changes_shows_no_null(visit):
    page = visit("default/entity/Luna")
    expect(page.locator("main")).to_contain_text("Luna")
    expect(page.get_by_role("region", name="Facts")).to_contain_text("Luna")
    assert not re.search(r"\bnull\b", page.locator("main").inner_text())


def test_why_shows_the_message_and_wants_the_question(visit, served):
    page = visit("default/conversation/ann-moves")
    page.get_by_label("Ask why this message is found, or is not").first.click()
    expect(page.locator("blockquote")).to_have_text("I live in Bergen.")
    question = page.get_by_label("Question")
    expect(question).to_be_focused()
    question.fill("Where did Ann live in March?")
    question.press("Enter")
    with Memory(served.file, enrich="manual") as memory:
        verdict = memory.why("Where did Ann live in March?", "b1", k=10).verdict
    expect(page.locator("section.panel strong").first).to_have_text(verdict)


def test_merges_by_the_rules_are_said_to_be_theirs(visit, served):
    with Memory(served.file, enrich="manual") as memory:
        memory.add("I met Klara Berg. Klara is a doctor.", speaker="Ann", session="family")
        memory.queue.enrich()
        by_rules = [merge for merge in memory.review.merges() if merge.by == "rules"]
    page = visit("default/duplicates")
    expect(page.locator("li.row", has_text="by rules")).to_have_count(len(by_rules))
    assert by_rules
    expect(page.locator("main")).not_to_contain_text("Nothing is merged until")
    expect(page.locator("main")).to_contain_text("Made by the rules")


def test_facts_are_filtered_by_what_they_say_and_when(visit, served):
    page = visit("default/facts")
    rows = page.locator("li.row .fact")
    expect(rows).to_have_count(len(facts(served)))
    page.get_by_label("Entity", exact=True).fill("Ann")
    page.get_by_label("Slot", exact=True).fill("home")
    page.get_by_label("Slot", exact=True).press("Enter")
    expect(rows).to_have_count(2)
    page.get_by_label("Status").select_option("superseded")
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Ann lives in Bergen")
    visit("default/facts?entity=Ann&slot=home&as_of=2026-03-01")
    expect(rows).to_have_count(1)
    expect(page.locator("li.row .badge")).to_have_count(0)
    expect(rows).to_have_text("Ann lives in Bergen")  # nobody said since when
    visit("default/facts?valid_at=2026-07-01&text=oslo")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Ann moved to Oslo")


def test_a_fact_is_stated_and_corrected_by_keyboard(visit, served):
    page = visit("default/facts")
    page.locator("summary", has_text="State a fact").press("Enter")
    for label, value in {
        "Subject": "Ben",
        "Relation": "works at",
        "Object": "DNB",
        "True from": "2026-03",
    }.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_label("True from").press("Enter")
    row = page.locator("li.row", has_text="Ben works at DNB")
    expect(row.locator("> details")).to_have_attribute("open", "")
    expect(row.locator("> details > summary")).to_be_focused()
    assert facts(served, entity="Ben") == {("Ben works at DNB", "current")}

    row.locator("summary", has_text="Correct it").press("Enter")
    row.get_by_label("Ben works at").fill("Equinor")
    row.get_by_label("Since").fill("2026-05")
    row.get_by_label("Why").fill("he said so at dinner")
    row.get_by_label("Why").press("Enter")
    expect(page.locator("li.row", has_text="Ben works at Equinor").first).to_be_visible()
    expect(row.locator(".badge.warning").first).to_have_text("superseded")
    assert facts(served, entity="Ben") == {
        ("Ben works at DNB", "superseded"),
        ("Ben works at Equinor", "current"),
    }
    with Memory(served.file, enrich="manual") as memory:
        (old,) = memory.facts("Ben", status="superseded")
        assert old.reason == "he said so at dinner"
        assert old.valid_to is not None
        assert old.valid_to.date().isoformat() == "2026-05-01"


def test_a_fact_is_taken_back_and_restored_and_has_its_id_and_history(visit, served, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit("default/facts?entity=Ann&slot=home")
    row = page.locator("li.row", has_text="Ann moved to Oslo").first
    row.locator("> details > summary").click()
    expect(row.locator(".timeline li")).to_have_count(2)
    expect(row.locator(".timeline li").first).to_contain_text("Ann lives in Bergen")
    with Memory(served.file, enrich="manual") as memory:
        (oslo,) = memory.facts("Ann", text="oslo")
    row.get_by_role("button", name=oslo.uid).click()
    expect(page.locator("#status")).to_have_text(f"{oslo.uid} is copied")
    assert page.evaluate("navigator.clipboard.readText()") == oslo.uid

    row.get_by_label("Reason").fill("a joke")
    row.get_by_role("button", name="Take back").click()
    expect(row.locator("> details > summary .badge")).to_have_text("retracted")
    assert facts(served, entity="Ann", slot="home") == {
        ("Ann moved to Oslo", "retracted"),
        ("Ann lives in Bergen", "current"),
    }
    # The other fact of the slot is shown as it is now, too.
    bergen = page.locator("li.row > details > summary", has_text="Ann lives in Bergen")
    expect(bergen.locator(".badge")).to_have_count(0)
    row.get_by_role("button", name="Restore").click()
    expect(row.locator("> details > summary .badge")).to_have_count(0)
    assert ("Ann moved to Oslo", "current") in facts(served, entity="Ann", slot="home")


def test_a_message_is_forgotten_where_it_stands_after_its_texts_were_shown(visit, served):
    page = visit("default/conversation/ann-moves")
    turn = page.locator("li.turn", has_text="I live in Bergen.")
    forget = turn.get_by_role("button", name="See what forgetting this message would remove")
    forget.press("Enter")
    shown = turn.get_by_role("region", name="What would go")
    expect(shown.locator(".text")).to_have_text("I live in Bergen.")
    expect(shown.locator(".fact")).to_contain_text("Ann lives in Bergen")
    # Nothing dangerous has the focus, and nothing has gone yet.
    expect(shown.get_by_role("button", name="Keep")).to_be_focused()
    page.keyboard.press("Enter")
    expect(shown).to_have_count(0)
    with Memory(served.file, enrich="manual") as memory:
        assert memory.get("b1") is not None
    forget.press("Enter")
    shown.get_by_role("button", name="Forget 1 message for good").press("Enter")
    expect(page.locator("li.turn")).to_have_count(2)
    with Memory(served.file, enrich="manual") as memory:
        assert memory.get("b1") is None
        assert memory.get("b2") is not None


def test_forgetting_an_entity_shows_the_messages_that_mention_it(visit):
    page = visit("default/forget")
    page.get_by_label("Entity").fill("luna")
    page.get_by_label("Entity").press("Enter")
    texts = page.get_by_role("list", name="Texts that would go")
    expect(texts.locator(".text")).to_have_text(["I have a dog called Luna."])


NOTES = {
    "id": "n1", "session": "build", "speaker": "Ann", "at": "2026-07-01T09:00:00Z",
    "text": f"# Steps\n\n1. Run `make *all*`\n2. Be **very** careful\n\n```html\n{HOSTILE}\n```\n"
    f"See [this](javascript:alert(1)), {HOSTILE} and **{HOSTILE}**\nin two_snake_case lines",
}  # fmt: skip


def test_a_dropped_file_is_imported_and_its_text_is_written_out_safely(visit, served):
    page = visit("default/import")
    line = json.dumps(NOTES)
    drop = page.evaluate_handle(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "steps: one.jsonl"));
            return data;
        }""",
        line,
    )
    page.dispatch_event(".drop", "drop", {"dataTransfer": drop})
    page.get_by_role("button", name="Only check").click()
    files = page.get_by_role("list", name="Files")
    expect(files).to_contain_text("Would store: 1 new in 1 conversation (jsonl)")
    with Memory(served.file, enrich="manual") as memory:
        assert memory.get("n1") is None
    page.get_by_role("button", name="Import", exact=True).click()
    expect(files).to_contain_text("Stored: 1 new in 1 conversation (jsonl)")
    with Memory(served.file, enrich="manual") as memory:
        assert memory.get("n1").text == NOTES["text"]

    visit("default/conversation/build")
    text = page.locator("li.turn .text")
    expect(text.locator("pre code")).to_have_text(HOSTILE)
    expect(text.locator("ol > li")).to_have_text(["Run make *all*", "Be very careful"])
    expect(text.locator("ol code")).to_have_text("make *all*")
    expect(text.locator("ol strong")).to_have_text("very")
    expect(text.locator("> p").last).to_contain_text("[this](javascript:alert(1))")
    expect(text.locator("> p").last).to_contain_text("in two_snake_case lines")
    assert page.locator("main .text a, main script, main img").count() == 0
    assert "owned" not in page.title()


def test_a_bad_file_says_what_is_wrong_and_a_chosen_one_may_leave_it_out(visit, served):
    page = visit("default/import")
    lines = ['{"text": "Fine.", "session": "f", "id": "f1"}', '{"nothing": 1}']
    file = {"name": "f.jsonl", "mimeType": "text/plain", "buffer": "\n".join(lines).encode()}
    page.get_by_label("Drop files here").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("list", name="Files")).to_contain_text("line 2")
    page.get_by_label("Leave out what is bad").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("list", name="Files")).to_contain_text("1 known, 1 bad")
    # The browser reports the refused file, which is an error of the stream and not of HTTP.
    assert served.problems == []


WRITTEN = [
    ("2*3*4 and snake_case_name", "<p>2*3*4 and snake_case_name</p>"),
    ("*yes*, _no_ **b**", "<p><em>yes</em>, <em>no</em> <strong>b</strong></p>"),
    ("a\n\nb", "<p>a\n\nb</p>"),
    ("- a\n- b\nc", "<ul><li>a</li><li>b</li></ul><p>c</p>"),
    ("3. a\n7) b", '<ol><li value="3">a</li><li value="7">b</li></ol>'),
    ("``a`b``", "<p>``a`b``</p>"),
    ("~~~\n*a*", '<pre class="code" title=""><code>*a*</code></pre>'),
    ("<b>**<i>**</b>", "<p>&lt;b&gt;<strong>&lt;i&gt;</strong>&lt;/b&gt;</p>"),
    ("** a ** `b` `", "<p>** a ** <code>b</code> `</p>"),
    ("", ""),
]


def test_marks_become_elements_and_all_else_stays_as_it_is(visit):
    page = visit("default")
    for text, html in WRITTEN:
        made = page.evaluate(
            """async text => {
                const { written } = await import("/page/text.js");
                const place = document.createElement("div");
                place.append(...written(text));
                place.querySelectorAll("pre").forEach(one => one.removeAttribute("tabindex"));
                return place.innerHTML;
            }""",
            text,
        )
        assert made == html, text


def test_nothing_of_a_text_is_lost_or_read_as_html_whatever_its_marks(visit):
    page = visit("default")
    chosen = random.Random(7)
    pieces = [*"`*_~#-+.<>&é\"'() \n", "```", "\n\n", "**", "1. ", "<b>", "</p>", "&lt;", "word"]
    texts = ["".join(chosen.choices(pieces, k=chosen.randrange(40))) for _ in range(2000)]
    found = page.evaluate(
        """async texts => {
            const { written } = await import("/page/text.js");
            return texts.map(text => {
                const place = document.createElement("div");
                place.append(...written(text));
                const names = [...place.querySelectorAll("*")].map(one => one.localName);
                return [place.textContent, [...new Set(names)]];
            });
        }""",
        texts,
    )
    assert len(found) == len(texts)
    allowed = {"p", "pre", "code", "ul", "ol", "li", "strong", "em"}
    marks = re.compile(r"[\s`*_~#+.1-]|word")  # a word may name the language of code
    for text, (shown, names) in zip(texts, found, strict=True):
        assert set(names) <= allowed, text
        assert marks.sub("", shown) == marks.sub("", text)
    assert {"pre", "ul", "ol", "strong", "em"} <= {name for _, names in found for name in names}


_LABELS = """() => {
    const graph = document.querySelector(".graph")._cyreg.cy;
    const shown = graph.elements().filter(one => !one.hasClass("mute")).map(one => {
        const box = one.renderedBoundingBox(
            { includeNodes: false, includeEdges: false, includeOverlays: false });
        return [one.data("label"), box.x1, box.y1, box.x2, box.y2];
    });
    return { nodes: graph.nodes().map(one => one.data("label")), shown };
}"""


def drawn(page, expected):
    """The names and the visible labels of the graph, as soon as it is drawn as expected."""
    for _ in range(300):
        if page.evaluate("Boolean(document.querySelector('.graph')?._cyreg)"):
            found = page.evaluate(_LABELS)
            if expected(found["nodes"]):
                return found
        page.wait_for_timeout(100)
    raise AssertionError(found["nodes"])


def overlapping(shown):
    return [
        (a[0], b[0])
        for number, a in enumerate(shown)
        for b in shown[:number]
        if a[1] < b[3] - 1 and a[3] > b[1] + 1 and a[2] < b[4] - 1 and a[4] > b[2] + 1
    ]


def test_a_crowded_graph_stays_readable_and_grows_where_it_is_wanted(visit, served):
    with Memory(served.file, enrich="manual") as memory:
        for number in range(120):
            memory.add_fact("Hub", f"knows well {number % 3}", f"somebody number {number}")
            memory.add_fact(f"somebody number {number}", "likes", f"thing {number % 40}")
        memory.queue.enrich()
    page = visit("default/graph?n=20")
    before = drawn(page, lambda nodes: len(nodes) == 20)
    assert "Hub" in before["nodes"]
    assert overlapping(before["shown"]) == []
    assert len(before["shown"]) >= 15
    page.get_by_role("button", name="Show 30 more around Hub").press("Enter")
    after = drawn(page, lambda nodes: len(nodes) > 40)
    assert set(before["nodes"]) < set(after["nodes"])
    assert overlapping(after["shown"]) == []
    page.get_by_role("spinbutton").fill("2000")
    page.get_by_role("spinbutton").press("Enter")
    everything = drawn(page, lambda nodes: len(nodes) > 160)
    assert overlapping(everything["shown"]) == []
    assert len(everything["shown"]) >= 20


def test_the_sliders_of_the_graph_move_its_table(visit):
    page = visit("default/graph")
    table = page.locator("tbody")
    expect(table).to_contain_text("Oslo")
    page.get_by_label(re.compile("^Known at")).press("Home")
    expect(table).not_to_contain_text("Oslo")
    expect(table).to_contain_text("Bergen")


def test_the_sliders_of_an_entity_move_its_tables(visit):
    page = visit("default/entity/Ann")
    table = page.get_by_role("region", name="Facts")
    expect(table).to_contain_text("Oslo")
    expect(page.locator(".timeline li")).to_have_count(2)
    page.get_by_label(re.compile("^Known at")).press("Home")
    expect(table).not_to_contain_text("Oslo")
    expect(table).to_contain_text("Ann lives in Bergen")
    expect(page.locator(".timeline li")).to_have_count(0)


def test_queries_are_run_kept_and_drawn(visit, page, served):
    visit("default/cypher?name=about")
    page.get_by_label("entity", exact=True).fill("Luna")
    page.get_by_label("entity", exact=True).press("Enter")
    expect(page.get_by_role("region", name="Rows").locator("tbody tr")).to_have_count(1)
    page.get_by_role("button", name="As a graph").click()
    assert len(drawn(page, lambda nodes: "Luna" in nodes)["nodes"]) == 2

    page.get_by_label("Query", exact=True).first.select_option("")
    text = page.locator("textarea")
    text.fill("MATCH (t:Triple) WHERE t.object = 'Bergen' RETURN t.subject AS who")
    text.press("Control+Enter")
    expect(page.get_by_role("region", name="Rows").locator("tbody")).to_have_text("Ann")
    page.get_by_label("Name to keep it by").fill("of Bergen")
    page.get_by_role("button", name="Keep").click()
    page.reload()
    page.get_by_label("Query", exact=True).first.select_option("own of Bergen")
    expect(text).to_have_value(re.compile("Bergen"))
    page.get_by_role("button", name="Remove").click()
    expect(page.locator("option", has_text="of Bergen")).to_have_count(0)
    text.fill("CREATE (x)")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate("localStorage.getItem('cognigraph-queries')") == "{}"
    # The browser reports the refused query; nothing else.
    assert all("400" in problem for problem in served.problems)
    served.problems.clear()


def test_without_a_model_asking_searches_and_says_so(visit):
    page = visit("default/ask")
    page.get_by_label("Question").fill("Where does Ann live now?")
    page.get_by_label("Question").press("Enter")
    expect(page.locator("ol.hits > li").first).to_contain_text("I moved to Oslo last week.")
    expect(page.locator("main")).to_contain_text("model")
    expect(page.get_by_role("region", name="Answer")).to_have_count(0)


def test_with_a_model_asking_answers_and_shows_the_rounds(browser, memory_copy):
    stages = LoopStages(
        lico_missing=[
            {"verdict": "partial", "missing": "since when", "queries": ["Ann moved"]},
            {"verdict": "enough", "missing": "", "queries": []},
        ],
        loop_answer={"answer": "In **Oslo**.", "labels": ["C1"]},
    )
    with (
        ModelServer(stages) as model,
        ChatModel("test", base_url=model.url) as asked,
        Memory(memory_copy, enrich="manual", model=asked) as memory,
        in_thread(application(memory)) as (host, port),
    ):
        page = browser.new_page()
        page.goto(f"http://{host}:{port}/#/default/ask?q=Where+does+Ann+live+now%3F")
        expect(page.locator("ol.hits > li").first).to_contain_text("Oslo")
        assert model.calls == 0  # a link does not spend money
        page.get_by_role("button", name="Ask").click()
        answer = page.get_by_role("region", name="Answer")
        expect(answer.locator(".text")).to_have_text("In Oslo.")
        expect(answer.locator(".text strong")).to_have_text("Oslo")
        expect(answer.get_by_role("list", name="What the answer names")).to_contain_text("C1")
        answer.locator("summary").click()
        expect(answer.locator("details li")).to_have_count(2)
        expect(answer.locator("details")).to_contain_text("missing: since when")
        expect(answer.locator("summary")).to_contain_text("2 rounds of licomemory")
        page.close()
