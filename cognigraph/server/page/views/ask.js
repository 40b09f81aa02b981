// The playground: a question, its hits with the signals that ranked them, the block that a model
// would get, why an expected message is found or is not, and two settings side by side. If the server has a
// model, "Ask" also answers, in rounds of searching; opening a link to a question only searches.
import { h, fill, link, time, bar, field, count, number, problem } from "../dom.js";
import { api, endOf } from "../api.js";
import { fact } from "../facts.js";
import { written } from "../text.js";

export async function render(root, { space, query, announce }) {
  const question = h("input", { type: "search", name: "q", value: query.get("q") ?? "", required: true, placeholder: "Where does Ann live now?", "aria-label": "Question" });
  const expected = h("input", { name: "expected", value: query.get("expected") ?? "", placeholder: "id of a message" });
  const also = h("textarea", { name: "also", rows: 2, placeholder: "one more query per line", value: query.get("also") ?? "" });
  const compare = h("input", { type: "checkbox", name: "compare", checked: query.get("compare") === "1" });
  const left = settings("A", query), right = settings("B", query);
  right.element.hidden = !compare.checked;
  compare.addEventListener("change", () => (right.element.hidden = !compare.checked));
  const strategy = h("select", { name: "strategy" }, ["licomemory", "hymem", "ama"].map((value) => h("option", { value, selected: query.get("strategy") === value }, value)));
  const answer = h("div"), output = h("div");
  const run = async () => {
    if (!question.value.trim()) return;
    announce("Searching");
    const base = { question: question.value.trim(), also: also.value.split("\n").map((line) => line.trim()).filter(Boolean) };
    const variants = [["A", { ...base, ...left.value() }], ...(compare.checked ? [["B", { ...base, ...right.value() }]] : [])];
    const columns = await Promise.all(variants.map(([name, body]) => column(space, name, body, compare.checked)));
    const explained = expected.value.trim() ? await why(space, { ...variants[0][1], expect: expected.value.trim() }) : null;
    fill(output, explained, h(`div.columns${compare.checked ? ".two" : ""}`, {}, columns));
    announce("Results are shown");
  };
  const failure = (error) => fill(output, problem(error));
  const form = h("form.panel", { onsubmit: (event) => {
    event.preventDefault();
    const entries = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
    if (compare.checked) entries.compare = "1";
    history.replaceState(null, "", link([space, "ask"], entries));
    run().catch(failure);
    respond(space, answer, { question: question.value.trim(), strategy: strategy.value, as_of: left.value().as_of }, announce);
  } },
    h("div.searchbar", {}, question, h("button.primary", { type: "submit" }, "Ask")),
    h("details", { open: Boolean(query.get("also") || query.get("expected") || compare.checked) }, h("summary", {}, "Settings"),
      h("div.fields", {}, field("More queries", also, "Searched together with the question."),
        field("Expected message", expected, "Explains why it is found, or is not."),
        field("Strategy of the answer", strategy, "Used if the server has a model."),
        h("div.field", {}, h("label", {}, compare, " Compare two settings"))),
      h("div.columns.two", {}, left.element, right.element)));
  fill(root, h("h1", {}, "Playground"), form, answer, output);
  if (question.value) await run().catch(failure);
  else if (expected.value) await invite(space, expected.value, output, question).catch(failure);
}

/** Let the server's model answer, and show each round as it ends. Without a model only a note stands here. */
async function respond(space, place, { question, strategy, as_of }, announce) {
  const rounds = h("ol");
  const state = h("p", { role: "status" }, "Answering");
  const asked = h("section.panel", { "aria-label": "Answer" }, state, rounds);
  fill(place, asked);
  try {
    const answer = await api.ask(space, { question, strategy, ...(as_of ? { as_of: endOf(as_of) } : {}) }, (round) => rounds.append(roundRow(round)));
    if (!asked.isConnected) return;  // the reader has asked something else
    const why = answer.stopped === "no model" ? "With a model, which the server has not, there would be an answer here (COGNIGRAPH_MODEL)." : answer.notes.join(" ");
    if (!answer.text) return fill(place, h("p", {}, h("small", {}, why)));
    const { calls, input_tokens, output_tokens } = answer.usage;
    fill(asked, h("h2", {}, "Answer"), h("div.text", {}, written(answer.text)),
      answer.citations.length ? h("ul.plain", { "aria-label": "What the answer names" }, answer.citations.map((citation) => cited(space, citation))) : null,
      h("details", {}, h("summary", {}, `${count(answer.rounds.length, "round")} of ${answer.strategy} `,
        h("small", {}, `${count(calls, "call")}, ${number(input_tokens + output_tokens)} tokens, stopped: ${answer.stopped}`)), h("ol", {}, answer.rounds.map(roundRow))),
      answer.notes.map((note) => h("p", {}, h("small", {}, note))));
    announce("The answer is shown");
  } catch (error) {
    fill(asked, problem(error));
  }
}

const roundRow = ({ plan, found, deepened, assessment, seconds }) => h("li", {}, plan.queries.join("; ") || "related messages",
  h("small.block", {}, `${plan.layer}: ${number(found.length + deepened.length)} new in ${seconds.toFixed(1)} s`, assessment?.missing ? `; missing: ${assessment.missing}` : ""));

const cited = (space, { label, kind, id, session }) => h("li", {}, `${label} `,
  kind === "message" ? h("a", { href: link([space, "conversation", session], { m: id }) }, id) : kind === "session" ? h("a", { href: link([space, "conversation", id]) }, id) : h("code", {}, id));

/** Somebody asks why a message is found: show it, and want the question. */
async function invite(space, id, output, question) {
  const message = await api.message(space, id);
  question.placeholder = "For which question?";
  fill(output, h("section.panel", {}, h("h2", {}, "Why is this message found, or is not?"), h("blockquote", {}, message.text),
    h("p", {}, "Write above a question that it should answer.")));
  document.getElementById("main").addEventListener("shown", () => question.focus(), { once: true });
}

function settings(name, query) {
  const get = (key, fallback) => query.get(`${key}${name}`) ?? fallback;
  const k = h("input", { type: "number", name: `k${name}`, min: "1", max: "200", value: get("k", "10") });
  const profile = h("select", { name: `profile${name}` }, ["default", "licomemory"].map((value) => h("option", { value, selected: get("profile", "default") === value }, value)));
  const tokens = h("input", { type: "number", name: `tokens${name}`, min: "50", max: "20000", value: get("tokens", "1300") });
  const perSession = h("input", { type: "number", name: `per${name}`, min: "1", value: get("per", "") });
  const asOf = h("input", { type: "date", name: `asof${name}`, value: get("asof", "") });
  return {
    element: h("fieldset", {}, h("legend", {}, `Setting ${name}`), h("div.fields", {}, field("Messages (k)", k), field("Ranking profile", profile),
      field("Tokens of the block", tokens), field("At most per conversation", perSession), field("As of", asOf, "Only what had been said by then."))),
    value: () => ({ k: Number(k.value) || 10, profile: profile.value, max_tokens: Number(tokens.value) || 1300,
      per_session: Number(perSession.value) || null, as_of: asOf.value || null }),
  };
}

async function column(space, name, body, named) {
  const [result, context] = await Promise.all([api.search(space, body), api.context(space, body)]);
  const best = Math.max(...result.hits.map(measure), 1e-9);
  return h("section", { "aria-label": named ? `Results of setting ${name}` : "Results" }, named ? h("h2", {}, `Setting ${name}`) : null,
    h("p", {}, count(result.hits.length, "message"), h("small", {}, ` in ${number(Math.round(result.trace.timings.total ?? 0))} ms`), result.trace.notes.map((note) => h("small.block", {}, note))),
    h("ol.hits", {}, result.hits.map((hit) => hitRow(space, hit, best))),
    result.triples.length ? h("details", {}, h("summary", {}, count(result.triples.length, "fact")), h("ul.plain", {}, result.triples.map((triple) => h("li", {}, fact(space, triple))))) : null,
    h("details", { open: true }, h("summary", {}, "The block as the model gets it ", h("small", {}, `${number(context.tokens)} of ${number(body.max_tokens)} tokens`)),
      h("pre.block-text", { tabIndex: 0 }, context.text || context.notes.join("; "))));
}

const measure = (hit) => hit.confidence ?? hit.score;  // the confidence falls from hit to hit

function hitRow(space, hit, best) {
  const shown = `${hit.confidence == null ? "score" : "confidence"} ${measure(hit).toFixed(3)}`;
  const parts = Object.entries(hit.why.features).filter(([, value]) => Math.abs(value) >= 0.005).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const largest = Math.max(...parts.map(([, value]) => Math.abs(value)), 1e-9);
  return h("li", {}, h("details", {},
    h("summary", {}, h("span.row-head", {}, bar(measure(hit) / best, shown), h("strong", {}, hit.speaker ?? hit.role ?? "?"), time(hit.at), h("small", {}, shown)),
      h("span.row-text", {}, hit.text)),
    h("div.why", {},
      h("p", {}, h("a", { href: link([space, "conversation", hit.session], { m: hit.id }) }, "Show in its conversation"), h("small", {}, ` ${hit.id}`)),
      h("table", {}, h("caption", {}, `score ${hit.score.toFixed(3)} = semantic ${hit.why.semantic.toFixed(3)} × decay ${hit.why.decay.toFixed(3)}`),
        h("thead", {}, h("tr", {}, ["Signal", "Value", "Contribution", ""].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, parts.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, format(hit.why.signals[name])), h("td", {}, value.toFixed(3)),
          h("td", {}, bar(Math.abs(value) / largest, value.toFixed(3))))))),
      hit.why.notes.map((note) => h("p", {}, h("small", {}, note))),
      hit.triples.length ? h("ul.plain", {}, hit.triples.map((triple) => h("li", {}, fact(space, triple)))) : null)));
}

const format = (value) => (value === undefined || value === null ? "–" : Number(value).toFixed(3));

async function why(space, body) {
  const told = await api.why(space, body);
  return h("section.panel", {}, h("h2", {}, "Why this message"), h("blockquote", {}, told.expected.text), h("p", {}, h("strong", {}, told.verdict)),
    h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Signals of the expected message" }, h("table", {}, h("thead", {}, h("tr", {}, ["Signal", "Value", "Points", "Last hit", "First hit", "Rank"].map((title) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, told.signals.map((signal) => h("tr", {}, h("th", { scope: "row" }, signal.name), [format(signal.value), format(signal.points), format(signal.points_at_k), format(signal.points_of_best), number(signal.rank)].map((cell) => h("td", {}, cell))))))),
    told.proposals.length ? [h("h3", {}, "What would bring it among the first"), h("ul", {}, told.proposals.map((proposal) => h("li", {}, proposal.what, proposal.rank ? ` (rank ${proposal.rank})` : "")))] : null,
    told.remarks.map((remark) => h("p", {}, h("small", {}, remark))));
}
