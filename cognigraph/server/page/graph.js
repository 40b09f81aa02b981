// The graph around an entity, drawn by Cytoscape.js (vendor/, MIT licence).

const MOST = 48;
const TWO_RINGS = 14;

/** Make room for many neighbours. Call it before the positions are computed. */
export function makeRoom(container, triples) {
  const names = new Set(triples.flatMap((triple) => [triple.subject, triple.object]));
  container.style.height = names.size > TWO_RINGS ? "40rem" : "";
}

/** Where each neighbour of `centre` stands: on one or two ellipses that fill the canvas, those of one relation together. */
export function positions(centre, triples, { clientWidth: width, clientHeight: height }) {
  const others = new Set();
  for (const triple of [...triples].sort((a, b) => a.relation.localeCompare(b.relation) || a.uid.localeCompare(b.uid))) {
    for (const name of [triple.subject, triple.object]) if (name !== centre) others.add(name);
  }
  const names = [...others];
  const rings = names.length > TWO_RINGS ? [names.filter((_, index) => index % 3), names.filter((_, index) => index % 3 === 0)] : [names];
  const places = new Map([[centre, { x: width / 2, y: height / 2 }]]);
  rings.forEach((ring, inner) => {
    const across = (inner ? 0.55 : 1) * (width / 2 - 90);
    const down = (inner ? 0.55 : 1) * (height / 2 - 36);
    ellipse(ring.length, across, down, inner / 2).forEach(({ x, y }, index) => places.set(ring[index], { x: width / 2 + x, y: height / 2 + y }));
  });
  return places;
}

/** Points on an ellipse, as far from each other along it; equal angles would crowd a wide one. `shift` is a part of their distance. */
function ellipse(count, across, down, shift) {
  const steps = 720;
  const at = (step) => ({ x: Math.cos((2 * Math.PI * step) / steps - Math.PI / 2) * across, y: Math.sin((2 * Math.PI * step) / steps - Math.PI / 2) * down });
  const lengths = [0];
  for (let step = 1; step <= steps; step++) lengths.push(lengths[step - 1] + Math.hypot(at(step).x - at(step - 1).x, at(step).y - at(step - 1).y));
  return Array.from({ length: count }, (_, index) => at(lengths.findIndex((length) => length >= (lengths[steps] * (index + shift)) / count)));
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
