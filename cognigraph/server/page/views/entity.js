// An entity: the graph around it, its facts and what changed, all of them at the time that two sliders choose.
import { h, append, fill, link, time, count, sliders } from "../dom.js";
import { api } from "../api.js";
import { fact, sources, timeline } from "../facts.js";
import { drawGraph, drawable, edgesOf } from "../graph.js";

export async function render(root, { space, rest: [name] }) {
  const triples = await api.triples(space, { entity: name });
  const entity = await api.entity(space, name);
  fill(root, h("p.crumbs", {}, h("a", { href: link([space, "entities"]) }, "Entities")), h("h1", {}, entity?.name ?? name),
    h("p", {}, entity ? [entity.type, entity.aliases.length ? `, also called ${entity.aliases.join(", ")}` : "", ` · ${count(triples.length, "fact")}`] : count(triples.length, "fact")));
  if (!triples.length) return root.append(h("p.empty", {}, `Nothing is known about ${name}.`));
  const canvas = h("div.graph", { role: "img" });
  const caption = h("p.caption");
  const listed = h("tbody"), changed = h("div");
  let shown = [], latest = 0;
  const draw = async () => {
    const drawn = drawable(shown);
    const old = shown.filter((triple) => triple.status !== "current").length;
    caption.textContent = count(shown.length - old, "current fact") + (old ? `, ${old} superseded or retracted (dashed)` : "") +
      (drawn.length < shown.length ? `; ${drawn.length} of them drawn` : "");
    canvas.classList.toggle("large", drawn.length > 14);
    canvas.setAttribute("aria-label", `Graph around ${name}: ${caption.textContent}. The facts are listed below.`);
    await drawGraph(canvas, edgesOf(drawn), { centre: name, onOpen: (other) => (location.hash = link([space, "entity", other])) });
  };
  const redraw = async (as_of, valid_at) => {
    const mine = ++latest;
    const [facts, histories] = await Promise.all([api.triples(space, { entity: name, as_of, valid_at }), api.history(space, { entity: name, as_of })]);
    if (mine !== latest) return;
    shown = facts;
    fill(listed, rows(space, facts));
    fill(changed, changes(space, histories));
    if (canvas.isConnected) await draw();
  };
  append(root, [h("section.panel", {}, sliders(triples, redraw), canvas, caption),
    h("section", {}, h("h2", {}, "Facts"), h("p", {}, h("a", { href: link([space, "facts"], { entity: name }) }, "Correct them")),
      h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Facts" }, h("table", {},
        h("thead", {}, h("tr", {}, ["Fact", "Last said", "Sources"].map((title) => h("th", { scope: "col" }, title)))), listed))),
    changed]);
  await redraw(null, null);
  // The canvas has a size only when the view is shown.
  document.getElementById("main").addEventListener("shown", draw, { once: true });
  document.getElementById("main").addEventListener("theme", () => canvas.isConnected && draw());
}

function rows(space, triples) {
  const rank = { current: 0, superseded: 1, retracted: 2 };
  return [...triples].sort((a, b) => rank[a.status] - rank[b.status] || b.last_observed.localeCompare(a.last_observed))
    .map((triple) => h("tr", {}, h("td", {}, fact(space, triple)), h("td", {}, time(triple.last_observed)), h("td", {}, sources(space, triple))));
}

function changes(space, histories) {
  const changed = histories.filter((history) => history.triples.length > 1);
  if (!changed.length) return null;
  return h("section", {}, h("h2", {}, "What changed"), changed.map((history) => h("div.panel", {}, h("h3", {}, history.slot), timeline(space, history))));
}
