// The graph of a space: the most connected entities, and around each what a click adds, at the time that the sliders choose.
import { h, fill, append, link, field, count, number, sliders } from "../dom.js";
import { api } from "../api.js";
import { degrees, drawGraph, edgesOf } from "../graph.js";

const FACTS = 5000;
const NEIGHBOURS = 30;
const ROWS = 100;

export async function render(root, { space, query, announce }) {
  const triples = await api.triples(space, {}, FACTS);
  const most = h("input", { type: "number", min: "1", max: "2000", value: query.get("n") ?? "40" });
  const canvas = h("div.graph.large", { role: "img" });
  const caption = h("p.caption");
  const listed = h("tbody");
  const expanded = new Set();
  let facts = triples, latest = 0;
  const draw = async () => {
    const edges = edgesOf(facts);
    const degree = degrees(edges);
    const near = neighbours(edges, degree);
    const names = chosen(degree, near, Number(most.value) || 40);
    for (const name of expanded) if (degree.has(name)) [name, ...near(name).filter((other) => !names.has(other)).slice(0, NEIGHBOURS)].forEach((one) => names.add(one));
    const drawn = edges.filter(({ source, target }) => names.has(source) && names.has(target));
    const hidden = (name) => near(name).filter((other) => !names.has(other)).length;
    caption.textContent = `${count(names.size, "entity", "entities")} of ${number(degree.size)}, ${count(drawn.length, "connection")} of ${number(edges.length)}` +
      (triples.length >= FACTS ? `, from the newest ${number(FACTS)} facts` : "") + ". Dashed is what is over. A click on an entity shows what else it is connected with; a second one opens it.";
    canvas.setAttribute("aria-label", `Graph of the space: ${caption.textContent} The entities are listed below.`);
    fill(listed, [...names].slice(0, ROWS).map((name) => row(name, degree.get(name), hidden(name))));
    if (canvas.isConnected) await drawGraph(canvas, drawn, { names: [...names], sizes: degree, onOpen: (name) => hidden(name) && !expanded.has(name) ? expand(name) : (location.hash = link([space, "entity", name])) });
  };
  const row = (name, degree, more) => h("tr", {}, h("th", { scope: "row" }, h("a", { href: link([space, "entity", name]) }, name)), h("td", {}, number(degree)),
    h("td", {}, more && !expanded.has(name) ? h("button", { type: "button", "aria-label": `Show ${number(Math.min(more, NEIGHBOURS))} more around ${name}`, onclick: () => expand(name) }, `${number(more)} more`) : ""));
  const expand = async (name) => {
    const byKeyboard = listed.contains(document.activeElement);
    expanded.add(name);
    await draw();
    if (byKeyboard) [...listed.querySelectorAll("a")].find((one) => one.textContent === name)?.focus();
    announce(caption.textContent);
  };
  const redraw = async (as_of, valid_at) => {
    const mine = ++latest;
    const found = as_of || valid_at ? await api.triples(space, { as_of, valid_at }, FACTS) : triples;
    if (mine !== latest) return;
    facts = found;
    await draw();
  };
  most.addEventListener("change", draw);
  fill(root, h("h1", {}, "Graph"));
  if (!triples.length) return append(root, [h("p.empty", {}, "No facts yet: messages are enriched in the background.")]);
  append(root, [sliders(triples, redraw), canvas, caption, field("Entities", most, "The most connected ones."),
    h("h2", {}, "Entities in the picture"), h("table", {}, h("thead", {}, h("tr", {}, ["Entity", "Connected with", ""].map((title) => h("th", { scope: "col" }, title)))), listed)]);
  await draw();
  document.getElementById("main").addEventListener("shown", draw, { once: true });
  document.getElementById("main").addEventListener("theme", () => canvas.isConnected && draw());
}

/** As many names as are wanted: the most connected ones, each with some of its neighbours, so that the picture has connections. */
function chosen(degree, near, wanted) {
  const ranked = [...degree].sort(([a, x], [b, y]) => y - x || a.localeCompare(b)).map(([name]) => name);
  const names = new Set(ranked.slice(0, degree.size <= wanted ? wanted : Math.ceil(wanted / 8)));
  const around = [...names].map((name) => near(name));
  for (let turn = 0; names.size < wanted && around.some((others) => others.length > turn); turn++) {
    for (const others of around) if (names.size < wanted && others.length > turn) names.add(others[turn]);
  }
  for (const name of ranked) if (names.size < wanted) names.add(name);
  return names;
}

/** The names that a name is connected with, the most connected first. */
function neighbours(edges, degree) {
  const found = new Map();
  for (const { source, target } of edges) for (const [one, other] of [[source, target], [target, source]]) {
    if (one === other) continue;
    if (!found.has(one)) found.set(one, new Set());
    found.get(one).add(other);
  }
  return (name) => [...(found.get(name) ?? [])].sort((a, b) => degree.get(b) - degree.get(a) || a.localeCompare(b));
}
