// The graph around an entity, drawn by Cytoscape.js (vendor/, MIT licence).

const MOST = 48;

/** Where each neighbour of `centre` stands: on two ellipses that fill the canvas, those of one relation together. */
export function positions(centre, triples, { clientWidth: width, clientHeight: height }) {
  const others = new Map();
  for (const triple of [...triples].sort((a, b) => a.relation.localeCompare(b.relation) || a.uid.localeCompare(b.uid))) {
    for (const name of [triple.subject, triple.object]) if (name !== centre && !others.has(name)) others.set(name, others.size);
  }
  const two = others.size > 14;
  const places = new Map([[centre, { x: width / 2, y: height / 2 }]]);
  for (const [name, index] of others) {
    const angle = (2 * Math.PI * index) / others.size - Math.PI / 2;
    const radius = two && index % 2 ? 0.58 : 1;
    places.set(name, { x: width / 2 + Math.cos(angle) * radius * (width / 2 - 90), y: height / 2 + Math.sin(angle) * radius * (height / 2 - 36) });
  }
  return places;
}

/** The triples that fit into one picture: the current ones first, then the newest. */
export function drawable(triples) {
  return [...triples].sort((a, b) => (a.status !== "current") - (b.status !== "current") || b.last_observed.localeCompare(a.last_observed)).slice(0, MOST);
}

/** Draw facts as edges, in place of the graph drawn before. */
export function drawGraph(container, centre, triples, places, before, onOpen) {
  const colours = getComputedStyle(document.documentElement);
  const colour = (name) => colours.getPropertyValue(name).trim();
  before?.destroy();
  const names = new Set([centre, ...triples.flatMap((triple) => [triple.subject, triple.object])]);
  const graph = cytoscape({
    container, maxZoom: 2, minZoom: 0.3, layout: { name: "preset", fit: false },
    elements: [
      ...[...names].map((name) => ({ data: { id: `n:${name}`, label: name, centre: name === centre ? 1 : 0 }, position: { ...places.get(name) } })),
      ...triples.map((triple) => ({ data: { id: `t:${triple.uid}`, source: `n:${triple.subject}`, target: `n:${triple.object}`,
        label: triple.negated ? `not: ${triple.relation}` : triple.relation, status: triple.status } })),
    ],
    style: [
      { selector: "node", style: { label: "data(label)", "font-size": 12, color: colour("--text"), "background-color": colour("--accent"),
        width: 14, height: 14, "text-valign": "bottom", "text-margin-y": 3, "text-wrap": "ellipsis", "text-max-width": 150 } },
      { selector: "node[centre = 1]", style: { "background-color": colour("--warm"), width: 26, height: 26, "font-size": 14, "font-weight": "bold" } },
      { selector: "edge", style: { label: "data(label)", "font-size": 11, color: colour("--soft"), width: 1.5, "line-color": colour("--line"),
        "target-arrow-color": colour("--line"), "target-arrow-shape": "triangle", "curve-style": "bezier", "text-background-color": colour("--panel"),
        "text-background-opacity": 0.85, "text-background-padding": 2, "text-wrap": "ellipsis", "text-max-width": 120 } },
      { selector: "edge[status != 'current']", style: { "line-style": "dashed", opacity: 0.55 } },
    ],
  });
  graph.on("tap", "node", (event) => onOpen(event.target.data("label")));
  graph.on("mouseover", "node", () => (container.style.cursor = "pointer"));
  graph.on("mouseout", "node", () => (container.style.cursor = ""));
  return graph;
}
