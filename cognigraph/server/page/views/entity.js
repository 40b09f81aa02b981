// An entity: its current facts, their history, and the graph around it at any time.
import { h, fill, link, time, count } from "../dom.js";
import { api } from "../api.js";
import { fact, sources } from "../facts.js";
import { drawGraph, drawable, makeRoom, positions } from "../graph.js";

export async function render(root, { space, rest: [name], query }) {
  const triples = await api.triples(space, { entity: name });
  const histories = await api.history(space, name);
  const entity = await api.entity(space, name);
  fill(root, h("p.crumbs", {}, h("a", { href: link([space, "entities"]) }, "Entities")), h("h1", {}, entity?.name ?? name),
    h("p", {}, entity ? [entity.type, entity.aliases.length ? `, also called ${entity.aliases.join(", ")}` : "", ` · ${count(triples.length, "fact")}`] : count(triples.length, "fact")));
  if (!triples.length) return root.append(h("p.empty", {}, `Nothing is known about ${name}.`));
  root.append(graphSection(space, name, triples, query), profile(space, triples), history(space, histories));
}

function graphSection(space, name, triples, query) {
  const said = triples.flatMap((triple) => [triple.first_observed, triple.last_observed, triple.superseded_at]).filter(Boolean);
  const valid = triples.flatMap((triple) => [triple.valid_from, triple.valid_to])
    .filter(Boolean);
  const canvas = h("div.graph", { role: "img" });
  const caption = h("p.caption");
  const known = slider("Known at", "What had been said by then (as_of)", said);
  const held = slider("True at", "What was true then (valid_at)", [...said, ...valid], { optional: true });
  let graph = null, latest = 0;
  const redraw = async () => {
    const mine = ++latest;
    const shown = await api.triplesAt(space, name, known.value(), held.value());
    if (mine !== latest) return;
    const old = shown.filter((triple) => triple.status !== "current").length;
    const drawn = drawable(shown);
    caption.textContent = count(shown.length - old, "current fact") + (old ? `, ${old} superseded or retracted (dashed)` : "") +
      (drawn.length < shown.length ? `; ${drawn.length} of them drawn` : "");
    canvas.setAttribute("aria-label", `Graph around ${name}: ${caption.textContent}. The facts are listed below.`);
    graph = drawGraph(canvas, name, drawn, positions(name, drawn, canvas), graph, (other) => (location.hash = link([space, "entity", other])));
  };
  makeRoom(canvas, drawable(triples));
  known.element.addEventListener("input", redraw);
  held.element.addEventListener("input", redraw);
  document.getElementById("main").addEventListener("shown", redraw, { once: true });
  document.getElementById("main").addEventListener("theme", () => canvas.isConnected && redraw());
  return h("section.panel", {}, h("h2", {}, "Graph"), h("div.sliders", {}, known.element, held.element), canvas, caption);
}

/** A slider over the moments at which something changes; an optional one starts at "any time", others at "now". */
function slider(label, hint, isos, { optional = false } = {}) {
  const moments = [...new Set(isos)].sort((a, b) => Date.parse(a) - Date.parse(b));
  const stops = optional ? [null, ...moments] : [...moments.slice(0, -1), null];
  const id = `slider-${label.replace(/\W/g, "")}`;
  const input = h("input", { type: "range", id, min: "0", max: String(Math.max(0, stops.length - 1)), step: "1" });
  input.value = String(optional ? 0 : stops.length - 1);
  const output = h("output", { htmlFor: id });
  const value = () => stops[Number(input.value)] ?? null;
  const tell = () => {
    const moment = value();
    fill(output, moment === null ? (optional ? "any time" : "now") : time(moment, { withClock: true }));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", tell);
  tell();
  return { element: h("div.slider", {}, h("label", { htmlFor: id }, label, " ", h("small", {}, hint)), input, output), value };
}

function profile(space, triples) {
  const rank = { current: 0, superseded: 1, retracted: 2 };
  const rows = [...triples].sort((a, b) => rank[a.status] - rank[b.status] || b.last_observed.localeCompare(a.last_observed));
  return h("section", {}, h("h2", {}, "Facts"), h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Facts" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Fact", "Last said", "Sources"].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, rows.map((triple) => h("tr", {}, h("td", {}, fact(space, triple)), h("td", {}, time(triple.last_observed)), h("td", {}, sources(space, triple))))))));
}

function history(space, histories) {
  const changed = histories.filter((history) => history.triples.length > 1);
  if (!changed.length) return null;
  return h("section", {}, h("h2", {}, "What changed"), changed.map((history) => h("div.panel", {}, h("h3", {}, history.slot),
    h("ol.timeline", {}, history.triples.map((triple) => h("li", {}, fact(space, triple),
      triple.superseded_at ? h("small", {}, " — superseded ", time(triple.superseded_at), triple.reason ? `: ${triple.reason}` : "") : null, " ", sources(space, triple)))))));
}
