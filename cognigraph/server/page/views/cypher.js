// Cypher on the space: queries of one's own, kept in this browser, and those that come with cognigraph.
import { h, fill, link, field, count, action } from "../dom.js";
import { api } from "../api.js";
import { drawGraph, edgesOf } from "../graph.js";

const KEPT = "cognigraph-queries";
const MOST_DRAWN = 1000;
const kept = () => JSON.parse(localStorage.getItem(KEPT) ?? "{}");
const keep = (queries) => localStorage.setItem(KEPT, JSON.stringify(queries));

export async function render(root, { space, query, announce }) {
  const named = await api.queries(space);
  const text = h("textarea.query", { rows: 6, spellcheck: false, "aria-label": "Query", placeholder: "MATCH (e:Entity) RETURN e.name LIMIT 10" });
  const choice = h("select", { id: "chosen" });
  const what = h("p.caption"), parameters = h("div.fields"), output = h("div");
  const name = h("input", { placeholder: "Name", "aria-label": "Name to keep it by" });
  const options = () => {
    const own = Object.keys(kept()).sort();
    fill(choice, h("option", { value: "" }, "a query of your own"),
      own.length ? h("optgroup", { label: "Kept in this browser" }, own.map((one) => h("option", { value: `own ${one}` }, one))) : null,
      h("optgroup", { label: "Come with cognigraph" }, named.map((one) => h("option", { value: `named ${one.name}` }, one.name))));
  };
  const choose = () => {
    const [kind, ...rest] = choice.value.split(" ");
    const chosen = rest.join(" ");
    const found = kind === "named" ? named.find((one) => one.name === chosen) : null;
    text.parentElement.hidden = Boolean(found);
    fill(what, found?.what ?? "");
    fill(parameters, found?.parameters.map((parameter) => field(parameter.name, h("input", { name: parameter.name, value: parameter.default ?? "", required: !parameter.optional && parameter.default === null }),
      parameter.type === "time" ? "A time with its offset: 2026-05-20T09:00:00Z" : parameter.type)));
    remove.hidden = kind !== "own";
    if (kind === "own") [text.value, name.value] = [kept()[chosen], chosen];
  };
  const run = action("Run", async () => {
    if (!form.reportValidity()) return;
    const started = performance.now();
    const isNamed = choice.value.startsWith("named ");
    const body = isNamed ? { name: choice.value.slice(6), parameters: given(named, choice.value.slice(6), form) } : { query: text.value };
    fill(output);
    const rows = await api.cypher(space, { ...body, limit: 1000 });
    show(output, space, rows, performance.now() - started);
    announce(count(rows.length, "row"));
  }, ".primary");
  run.type = "submit";
  const store = action("Keep", async () => {
    if (!name.value.trim() || !text.value.trim()) throw new Error("Write a query and a name for it.");
    keep({ ...kept(), [name.value.trim()]: text.value });
    options();
    choice.value = `own ${name.value.trim()}`;
    choose();
    announce("Kept");
  });
  const remove = action("Remove", async () => {
    const { [choice.value.slice(4)]: gone, ...others } = kept();
    keep(others);
    options();
    choose();
    announce("Removed");
  });
  text.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && run.click());
  const form = h("form.panel", { onsubmit: (event) => event.preventDefault() },
    field("Query", choice), what, parameters,
    h("div", {}, text, h("div.actions", {}, h("span", {}, name), store, remove)),
    h("p", {}, run, " ", h("small", {}, "or Ctrl+Enter. Queries only read, and see only this space.")));
  choice.addEventListener("change", choose);
  options();
  fill(root, h("h1", {}, "Cypher"), form, output);
  choice.value = query.get("name") ? `named ${query.get("name")}` : "";
  text.value = query.get("q") ?? "";
  choose();
}

/** The parameters of a named query, each as what it is. */
function given(named, name, form) {
  const { parameters } = named.find((one) => one.name === name);
  return Object.fromEntries(parameters.map(({ name: key, type }) => [key, form.elements[key].value.trim(), type]).filter(([, value]) => value)
    .map(([key, value, type]) => [key, type === "integer" ? Number(value) : value]));
}

/** Rows as a table, and those that name entities and what is between them also as a graph. */
function show(output, space, rows, milliseconds) {
  const edges = edgesIn(rows.slice(0, MOST_DRAWN));
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Rows" }, h("table", {}, h("thead", {}, h("tr", {}, columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((column) => h("td", {}, cell(row[column]))))))));
  const canvas = h("div.graph.large", { role: "img", hidden: true, "aria-label": `The rows as a graph: ${count(edges.length, "connection")}.` });
  const asGraph = action("As a graph", async () => {
    table.hidden = !table.hidden;
    canvas.hidden = !table.hidden;
    asGraph.textContent = table.hidden ? "As rows" : "As a graph";
    if (table.hidden) await drawGraph(canvas, edges, { onOpen: (name) => (location.hash = link([space, "entity", name])) });
  });
  fill(output, h("p", {}, count(rows.length, "row"), h("small", {}, ` in ${Math.round(milliseconds)} ms `), edges.length ? asGraph : null), rows.length ? table : null, canvas);
}

function cell(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? h("code", {}, JSON.stringify(value)) : String(value);
}

const isNode = (value) => typeof value?.uid === "string" && (value.name ?? value.subject) !== undefined;

/** The edges that rows have: a fact's subject and object, or the entities of a row, each with the next. */
function edgesIn(rows) {
  const triples = rows.flatMap((row) => {
    const values = Object.values(row);
    const facts = [row, ...values].filter((one) => typeof one?.subject === "string" && typeof one?.object === "string");
    if (facts.length) return facts.map(({ subject, object, relation, negated, status }) => ({ subject, object, relation: relation ?? "", negated, status }));
    const nodes = values.filter((value) => isNode(value));
    return nodes.slice(1).map((node, index) => ({ subject: nodes[index].name, object: node.name, relation: values.find((value) => value?.kind)?.kind ?? "" }));
  });
  return edgesOf(triples);
}
