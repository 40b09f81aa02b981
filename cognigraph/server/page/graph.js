// Graphs of facts: Cytoscape.js draws them, d3-force says where each entity stands (both in vendor/, and only
// loaded when a graph is shown). Labels never cover each other: where there is no room, the less connected wait
// until the reader comes closer.
import { h } from "./dom.js";

const MOST = 48;
const LABEL = 12;
const MANY = 300;
const loaded = new Map();
const drawn = new WeakMap();

function load(name) {
  if (!loaded.has(name)) loaded.set(name, new Promise((resolve, reject) => document.head.append(
    h("script", { src: `page/vendor/${name}`, onload: resolve, onerror: () => reject(new Error(`The server does not deliver ${name}.`)) }))));
  return loaded.get(name);
}

/** The triples that fit into one picture: the current ones first, then the newest. */
export function drawable(triples) {
  return [...triples].sort((a, b) => (a.status !== "current") - (b.status !== "current") || b.last_observed.localeCompare(a.last_observed)).slice(0, MOST);
}

/** Triples as edges; those of the same two entities are one edge, and it is over when all of them are. */
export function edgesOf(triples) {
  const edges = new Map();
  for (const { subject, object, relation, negated, status } of triples) {
    const key = JSON.stringify([subject, object]);
    if (!edges.has(key)) edges.set(key, { source: subject, target: object, labels: new Set(), over: true });
    const edge = edges.get(key);
    edge.labels.add(negated ? `not: ${relation}` : relation);
    edge.over &&= status !== undefined && status !== "current";
  }
  return [...edges.values()].map(({ labels: [first, ...others], ...edge }) => ({ ...edge, label: others.length ? `${first} +${others.length}` : first }));
}

/** How many edges each entity has. */
export function degrees(edges) {
  const found = new Map();
  for (const { source, target } of edges) for (const name of new Set([source, target])) found.set(name, (found.get(name) ?? 0) + 1);
  return found;
}

/**
 * Where each name stands. Those in `before` begin where they were, so a picture that grows stays the same. A wide
 * canvas is filled by drawing everything as much wider, which also makes room for labels.
 */
function places(names, edges, { width, height }, centre, before) {
  const wider = Math.max(1, Math.min(2.2, width / height || 1));
  const start = (id) => (before?.has(id) ? { x: before.get(id).x / wider, y: before.get(id).y } : {});
  const nodes = names.map((id) => ({ id, ...start(id), ...(id === centre ? { fx: 0, fy: 0 } : {}) }));
  const links = edges.filter(({ source, target }) => source !== target).map(({ source, target }) => ({ source, target }));
  const isLarge = nodes.length > MANY;
  const apart = isLarge ? 40 : 75;
  const ticks = isLarge ? 60 : 300;
  d3.forceSimulation(nodes).stop().alphaDecay(1 - 0.001 ** (1 / ticks))
    .force("link", d3.forceLink(links).id(({ id }) => id).distance(apart * 1.6))
    .force("charge", d3.forceManyBody().theta(isLarge ? 1.3 : 0.9).strength(-apart * 6).distanceMax(apart * 12))
    .force("x", d3.forceX().strength(0.06))
    .force("y", d3.forceY().strength(0.06))
    .force("collide", d3.forceCollide(apart * 0.5))
    .tick(ticks);
  return new Map(nodes.map(({ id, x, y }) => [id, { x: x * wider, y }]));
}

/** Draw edges in a container, in place of the graph that is drawn there. */
export async function drawGraph(container, edges, { centre = null, names = null, sizes = null, onOpen }) {
  await Promise.all([load("cytoscape.min.js"), load("d3-force.min.js")]);
  const colours = getComputedStyle(document.documentElement);
  const colour = (name) => colours.getPropertyValue(name).trim();
  const before = drawn.get(container);
  const kept = before && new Map(before.nodes().map((node) => [node.data("label"), { ...node.position() }]));
  before?.destroy();
  const all = names ?? [...new Set([...(centre === null ? [] : [centre]), ...edges.flatMap(({ source, target }) => [source, target])])];
  const degree = sizes ?? degrees(edges);
  const where = places(all, edges, { width: container.clientWidth, height: container.clientHeight }, centre, kept);
  const width = (name) => (name === centre ? 26 : 10 + 4 * Math.log2(1 + (degree.get(name) ?? 0)));
  const scaled = (element) => LABEL / element.cy().zoom();
  const graph = cytoscape({
    container, maxZoom: 2.5, minZoom: 0.05, layout: { name: "preset", fit: true, padding: 30 },
    elements: [
      ...all.map((name) => ({ data: { id: `n:${name}`, label: name, centre: name === centre ? 1 : 0, degree: degree.get(name) ?? 0, width: width(name) }, position: { ...where.get(name) } })),
      ...edges.map(({ source, target, label, over }, index) => ({ data: { id: `e:${index}`, source: `n:${source}`, target: `n:${target}`, label, over: over ? 1 : 0 } })),
    ],
    style: [
      { selector: "node", style: { label: "data(label)", "font-size": scaled, color: colour("--text"), "background-color": colour("--accent"),
        width: "data(width)", height: "data(width)", "text-valign": "bottom", "text-margin-y": (node) => 3 / node.cy().zoom(), "text-wrap": "ellipsis", "text-max-width": (node) => 150 / node.cy().zoom() } },
      { selector: "node[centre = 1]", style: { "background-color": colour("--warm"), "font-weight": "bold" } },
      { selector: "edge", style: { label: "data(label)", "font-size": scaled, color: colour("--soft"), width: (edge) => Math.max(1.5, 0.8 / edge.cy().zoom()), "line-color": colour("--line"),
        "target-arrow-color": colour("--line"), "target-arrow-shape": "triangle", "curve-style": "bezier", "text-background-color": colour("--panel"),
        "text-background-opacity": 0.85, "text-background-padding": 2, "text-wrap": "ellipsis", "text-max-width": (edge) => 120 / edge.cy().zoom() } },
      { selector: "edge[over = 1]", style: { "line-style": "dashed", opacity: 0.55 } },
      { selector: ".mute", style: { "text-opacity": 0, "text-background-opacity": 0 } },
    ],
  });
  drawn.set(container, graph);
  if (graph.zoom() > 1.2) graph.zoom(1.2).center();
  let timer = null;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => !graph.destroyed() && declutter(graph), 60);
  };
  graph.on("viewport free", later);
  declutter(graph);
  graph.on("tap", "node", (event) => onOpen(event.target.data("label")));
  graph.on("mouseover", "node", () => (container.style.cursor = "pointer"));
  graph.on("mouseout", "node", () => (container.style.cursor = ""));
}

/** Hide each label that would cover one of a more connected entity. Edges come after entities, if there are not too many. */
function declutter(graph) {
  graph.style().update();
  const view = graph.extent();
  const isSeen = ({ x, y }) => x >= view.x1 && x <= view.x2 && y >= view.y1 && y <= view.y2;
  const nodes = graph.nodes().filter((node) => isSeen(node.position())).sort((a, b) => b.data("centre") - a.data("centre") || b.data("degree") - a.data("degree"));
  const edges = nodes.length > MANY ? [] : graph.edges().filter((edge) => isSeen(edge.midpoint()));
  const dots = nodes.length > MANY ? [] : nodes.map((node) => ({ of: node.id(), ...node.boundingBox({ includeLabels: false }) }));
  const taken = [...dots], shown = new Set();
  for (const element of [...nodes, ...edges]) {
    const box = element.boundingBox({ includeNodes: false, includeEdges: false, includeOverlays: false, includeUnderlays: false });
    if (taken.some((other) => other.of !== element.id() && box.x1 < other.x2 && box.x2 > other.x1 && box.y1 < other.y2 && box.y2 > other.y1)) continue;
    taken.push(box);
    shown.add(element.id());
  }
  graph.batch(() => graph.elements().forEach((element) => element.toggleClass("mute", !shown.has(element.id()))));
}
